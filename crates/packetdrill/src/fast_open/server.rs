//! What a server answers to a SYN (RFC 7413 section 4.2.1, Linux `tcp_try_fastopen`).

use super::{CookieOption, Settings};

/// The decision about a SYN.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// The connection opens at once, with the data of the SYN.
    pub(crate) opens: bool,
    /// The option of the SYN-ACK.
    pub(crate) answer: Option<CookieOption>,
}

/// A SYN with this option and payload arrives while `waiting` connections have opened early and wait for the end of their
/// handshakes.
pub(crate) fn judge(
    settings: &Settings,
    waiting: usize,
    option: Option<CookieOption>,
    payload: u32,
) -> Verdict {
    let option = option.filter(|option| option.is_request() || option.is_valid());
    if (option.is_none() && payload == 0) || !accepts(settings, waiting) {
        return Verdict::default();
    }
    let known = option.is_some_and(|option| option.cookie() == settings.cookie());
    if known || settings.without_cookie || settings.has(Settings::SERVER_WITHOUT_COOKIE) {
        return Verdict {
            opens: true,
            answer: None,
        };
    }
    // A SYN without option asks for nothing.
    let answer =
        option.and_then(|option| CookieOption::new(option.experimental, &settings.cookie()));
    Verdict {
        opens: false,
        answer,
    }
}

fn accepts(settings: &Settings, waiting: usize) -> bool {
    let most = match settings.backlog {
        Some(most) => most as usize,
        None if settings.has(Settings::EVERY_LISTENER) => usize::MAX,
        None => 0,
    };
    settings.has(Settings::SERVER) && waiting < most
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings() -> Settings {
        Settings {
            system: 3,
            backlog: Some(1),
            ..Settings::default()
        }
    }

    #[test]
    fn a_valid_cookie_opens_and_any_other_is_answered_with_the_valid_one() {
        let settings = settings();
        let valid = CookieOption::new(false, &settings.cookie());
        let wrong = CookieOption::new(false, &[9; 8]);
        let opens = |option| judge(&settings, 0, option, 10).opens;
        assert!(opens(valid) && !opens(wrong) && !opens(None));
        assert_eq!(judge(&settings, 0, wrong, 10).answer, valid);
        let request = Some(CookieOption::request(false));
        assert_eq!(judge(&settings, 0, request, 0).answer, valid);
        assert_eq!(judge(&settings, 0, None, 10).answer, None);
        // The backlog is full.
        assert_eq!(judge(&settings, 1, valid, 10), Verdict::default());
    }

    #[test]
    fn without_cookies_every_data_opens() {
        let mut settings = settings();
        settings.system = 0x202;
        assert!(judge(&settings, 0, None, 1).opens);
        assert!(!judge(&settings, 0, None, 0).opens);
        settings.backlog = None;
        assert!(!judge(&settings, 0, None, 1).opens);
        settings.system = 0x602;
        assert!(judge(&settings, 0, None, 1).opens);
    }
}
