//! The one list of protocols.
//!
//! Each line has the name in scenario files, the module, and the numbers by which packets are recognised on the
//! wire: the types of LCT extensions (of those that a protocol instantiation assigns itself, RFC 5651, section
//! 9.1; none is registered) and the first byte of reports. [`family!`](layercast_core::family!) makes the rest.
//!
//! A number that another protocol or the [transport](layercast_core::wire::taken) has does not compile:
//!
//! ```
//! use layercast_protocols::fixed;
//! layercast_core::family! { pub Free { First = "first" in fixed on [98] reports 0x21; } }
//! ```
//! ```compile_fail
//! use layercast_protocols::fixed;
//! layercast_core::family! { pub Taken { First = "first" in fixed on [98] reports 0x19; } }
//! ```
//! ```compile_fail
//! use layercast_protocols::fixed;
//! layercast_core::family! { pub Taken { First = "first" in fixed on [120] reports 0x21; } }
//! ```

use crate::flid::{dl as flid_dl, ecn as e_flid_dl, sl as flid_sl};
use crate::{
    amca, cbr, elm, fixed, golestani_sabnani, nca, pgmcc, rla, rlc, rlm, smcc, tfmcc, tfrc, tide, webrc,
    wei_zhang,
};

layercast_core::family! {
    /// All protocols of this crate.
    pub Registry {
        /// Equation-based layered multicast.
        Elm = "elm" in elm on [80] reports 0x12;
        /// Receiver-driven layered congestion control.
        Rlc = "rlc" in rlc on [81];
        /// Receiver-driven layered multicast: announced experiments.
        Rlm = "rlm" in rlm on [91] reports 0x1c;
        /// Synchronised join experiments for any layers.
        WeiZhang = "wei-zhang" in wei_zhang on [92];
        /// TCP-friendly rate control: one receiver.
        Tfrc = "tfrc" in tfrc on [83] reports 0x14;
        /// A constant rate with TFRC's receiver: one receiver, no congestion control, several loss estimators.
        Cbr = "cbr" in cbr on [84] reports 0x15;
        /// TCP-friendly multicast congestion control with a single rate.
        Tfmcc = "tfmcc" in tfmcc on [85] reports 0x16;
        /// Smooth multirate multicast: layers that are each controlled by TFMCC.
        Smcc = "smcc" in smcc on [86, 87] reports 0x17;
        /// One rate with a representative: TCP's window with the receiver of the lowest throughput.
        Pgmcc = "pgmcc" in pgmcc on [93] reports 0x1d;
        /// One rate by random listening: every receiver acknowledges, and a share of their losses counts.
        Rla = "rla" in rla on [94] reports 0x1e;
        /// One rate with windows at the receivers: the source sends what all windows allow.
        GolestaniSabnani = "golestani-sabnani" in golestani_sabnani on [95] reports 0x1f;
        /// The congestion control of one nominated receiver, with repair servers at routers.
        Nca = "nca" in nca with Router;
        /// Wave and equation based rate control.
        Webrc = "webrc" in webrc on [96];
        /// Fair layered increase/decrease with static layers.
        FlidSl = "flid-sl" in flid_sl on [88];
        /// Fair layered increase/decrease with dynamic layers.
        FlidDl = "flid-dl" in flid_dl on [89];
        /// The same with congestion marks in place of losses.
        EFlidDl = "e-flid-dl" in e_flid_dl on [90];
        /// One rate and reliable delivery, with active routers.
        Amca = "amca" in amca with Router;
        /// Layered multicast at the rate of an emulated TCP, by waves, without feedback.
        Tide = "tide" in tide on [97] reports 0x20;
        /// Layers at a fixed level: no congestion control, a reference for the others.
        Fixed = "fixed" in fixed on [82];
    }
}
