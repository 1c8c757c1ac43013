//! The macro that turns the list of impairments in [`crate::stages`] into one type for all stages, so that passing a
//! packet to a stage is a jump and not a call through a pointer.

/// Turns the list of impairments into [`AnyStage`](crate::AnyStage). An entry contains a description of the impairment, its type,
/// the scenario table that declares its keys (or its name, if there is none), and whether it may request a call at a later time
/// ([`Stage::next_wake_ns`](crate::Stage::next_wake_ns)).
macro_rules! stages {
    ($(
        #[doc = $about:literal]
        $name:ident($type:ty) $(, keys $keys:ident)? $(, named $named:literal)?, wakes $wakes:literal;
    )*) => {
        /// The name of each impairment: the name of its table in scenarios, if it has one.
        mod name {
            $(
                #[allow(non_upper_case_globals, reason = "named as the variant is")]
                pub(super) const $name: &str = [
                    $(<inorder_scenario::config::$keys as inorder_scenario::schema::Keys>::SECTION.name)?
                    $($named)?
                ][0];
            )*
        }

        /// Any stage.
        pub enum AnyStage<P: Packet> {
            $(#[doc = $about] $name($type),)*
            /// A stage defined outside this crate.
            Custom(Box<dyn Stage<P> + Send>),
        }

        impl<P: Packet> AnyStage<P> {
            /// Builds the stage that a scenario declares; `random` is its own stream of random numbers. The match
            /// covers all kinds of stages, so a kind without an impairment does not compile.
            pub fn declared(kind: &StageKind, random: Random) -> Self {
                match kind {
                    $($(
                        StageKind::$keys(config) => {
                            Declared::<P>::build(config, random).into()
                        }
                    )?)*
                }
            }

            /// The name of its impairment; "custom" for a stage defined outside this crate.
            pub fn name(&self) -> &'static str {
                match self {
                    $(AnyStage::$name(_) => name::$name,)*
                    AnyStage::Custom(_) => "custom",
                }
            }

            /// True if [`Stage::next_wake_ns`] may return a time.
            pub(crate) fn may_wake(&self) -> bool {
                match self {
                    $(AnyStage::$name(_) => $wakes,)*
                    AnyStage::Custom(_) => true,
                }
            }
        }

        /// Passes a call on to the stage that this one is.
        macro_rules! each {
            ($any:expr, $stage:ident => $call:expr) => {
                match $any {
                    $(AnyStage::$name($stage) => $call,)*
                    AnyStage::Custom($stage) => $call,
                }
            };
        }

        impl<P: Packet> Stage<P> for AnyStage<P> {
            #[inline]
            fn push(&mut self, now_ns: i64, packet: P, out: &mut Outbox<P>) {
                each!(self, stage => stage.push(now_ns, packet, out));
            }

            #[inline]
            fn pass(&mut self, now_ns: i64, packet: &mut P, out: &mut Outbox<P>) -> Pass {
                each!(self, stage => stage.pass(now_ns, packet, out))
            }

            #[inline]
            fn next_wake_ns(&self) -> Option<i64> {
                each!(self, stage => Stage::<P>::next_wake_ns(stage))
            }

            fn wake(&mut self, now_ns: i64, out: &mut Outbox<P>) {
                each!(self, stage => stage.wake(now_ns, out));
            }

            fn keeps_order(&self) -> bool {
                each!(self, stage => Stage::<P>::keeps_order(stage))
            }

            fn orders_itself(&self) -> bool {
                each!(self, stage => Stage::<P>::orders_itself(stage))
            }

            fn needs_order(&self) -> bool {
                each!(self, stage => Stage::<P>::needs_order(stage))
            }
        }

        $(impl<P: Packet> From<$type> for AnyStage<P> {
            fn from(stage: $type) -> Self {
                AnyStage::$name(stage)
            }
        })*
    };
}

pub(crate) use stages;
