"""Claims of the first sentence of `analyze`, against the truth."""


def judge(name, place, result, truth, known):
    """The claims of a capture, with what is true of each; None if the headline has no list of them."""
    return None


def table(judged):
    """How often each kind of claim is true."""
