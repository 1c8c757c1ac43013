//! What a client knows of its server (RFC 7413 section 4.1.3, Linux `tcp_fastopen_cache_set`).

use super::{CookieOption, Settings};

/// What a SYN with data leaves free, so that devices on the path may add options (Linux `MAX_TCP_OPTION_SPACE`).
const OPTION_SPACE: u32 = 40;

/// The experimental form of the option: when a request in it is due.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Experiment {
    #[default]
    NotYet,
    /// The server did not answer the usual form.
    Next,
    /// It did not answer either form; the usual one remains.
    Over,
}

/// The cache of a client.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cache {
    cookie: Option<CookieOption>,
    /// The MSS that the server announced last.
    mss: Option<u32>,
    experiment: Experiment,
}

/// What the SYN of a client has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) option: Option<CookieOption>,
    /// Maximum number of bytes of data.
    pub(crate) room: u32,
}

impl Cache {
    /// True if the SYN could carry data.
    pub(crate) fn allows_data(&self, settings: &Settings) -> bool {
        self.cookie.is_some() || free(settings)
    }

    /// For a client whose own MSS is `mss`.
    pub(crate) fn offer(&self, settings: &Settings, mss: u32) -> Offer {
        let room = self
            .mss
            .unwrap_or(mss)
            .min(mss)
            .saturating_sub(OPTION_SPACE);
        match self.cookie {
            _ if free(settings) => Offer { option: None, room },
            Some(cookie) => Offer {
                option: Some(cookie),
                room,
            },
            None => Offer {
                option: Some(CookieOption::request(self.experiment == Experiment::Next)),
                room: 0,
            },
        }
    }

    /// The SYN-ACK has arrived that answers an offer. `sent_data`: it carried data; `repeated`: the SYN was sent again.
    pub(crate) fn learn(
        &mut self,
        asked: Option<CookieOption>,
        answer: Option<CookieOption>,
        mss: u32,
        sent_data: bool,
        repeated: bool,
    ) {
        self.mss = Some(mss);
        if let Some(answer) = answer.filter(CookieOption::is_valid) {
            self.cookie = Some(answer);
            return;
        }
        if sent_data || repeated || self.cookie.is_some() {
            return;
        }
        let next = match asked.is_some_and(|asked| asked.experimental) {
            true => Experiment::Over,
            false => Experiment::Next,
        };
        self.experiment = self.experiment.max(next);
    }
}

/// Data is sent without any cookie.
fn free(settings: &Settings) -> bool {
    settings.without_cookie || settings.has(Settings::CLIENT_WITHOUT_COOKIE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cookie_and_the_mss_of_the_last_answer_are_used() {
        let settings = Settings::default();
        let mut cache = Cache::default();
        let offer = cache.offer(&settings, 1460);
        assert_eq!(
            (offer.option, offer.room),
            (Some(CookieOption::request(false)), 0)
        );
        let cookie = CookieOption::new(false, &[1, 2, 3, 4]);
        cache.learn(offer.option, cookie, 940, false, false);
        let offer = cache.offer(&settings, 1460);
        assert_eq!((offer.option, offer.room), (cookie, 900));
        // A cookie of three bytes is none.
        cache.learn(
            offer.option,
            CookieOption::new(false, &[1, 2, 3]),
            1000,
            true,
            false,
        );
        let offer = cache.offer(&settings, 1460);
        assert_eq!((offer.option, offer.room), (cookie, 960));
    }

    #[test]
    fn a_silent_server_is_asked_in_the_experimental_form_once() {
        let settings = Settings::default();
        let mut cache = Cache::default();
        for experimental in [false, true, false, false] {
            let asked = cache.offer(&settings, 1460).option;
            assert_eq!(asked, Some(CookieOption::request(experimental)));
            cache.learn(asked, None, 1460, false, false);
        }
    }
}
