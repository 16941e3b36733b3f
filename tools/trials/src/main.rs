//! `layercast-trials NAME`: hardships for whole programs. `docs/trials.md` has their results.

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    use clap::{Parser, Subcommand};
    use layercast_trials::peers::{self, speed};
    use layercast_trials::tcp;
    use layercast_trials::trial::{amca, crowd, forged, kills, links, losses, share, soak, storm};

    #[derive(Parser)]
    #[command(about = "Hardships for whole programs, as root in emulated networks")]
    struct Arguments {
        #[command(subcommand)]
        trial: Trial,
    }

    #[derive(Subcommand)]
    enum Trial {
        /// Hostile packets to the receiver's groups and the source's port, while a file is sent.
        Hostile(storm::Options),
        /// Kills of the sender or the receiver at random moments.
        Kills(kills::Options),
        /// Forged packets from the source's address, against a group key.
        Forged(forged::Options),
        /// Losses, many files, receivers of different rates.
        Losses(losses::Options),
        /// Hostile packets at the readers and state machines themselves, without a network.
        Soak(soak::Options),
        /// Receivers behind links of very different rates.
        Links(links::Options),
        /// Many receivers, one very slow, one that comes and goes.
        Crowd(crowd::Options),
        /// One bottleneck, shared with the kernel's TCP.
        Share(share::Options),
        /// AMCA over relays that take part, against its simulation.
        Amca(amca::Options),
        /// One long file to one receiver, by each tool at each rate.
        Speed(speed::Options),
        /// The same faults for other tools.
        Peers(peers::Options),
        /// A part of `share`: takes what TCP brings.
        #[command(hide = true)]
        TcpSink(tcp::SinkOptions),
        /// A part of `share`: sends by TCP.
        #[command(hide = true)]
        TcpSource(tcp::SourceOptions),
    }

    match Arguments::parse().trial {
        Trial::Hostile(options) => storm::run(&options),
        Trial::Kills(options) => kills::run(&options),
        Trial::Forged(options) => forged::run(&options),
        Trial::Losses(options) => losses::run(&options),
        Trial::Soak(options) => soak::run(&options),
        Trial::Links(options) => links::run(&options),
        Trial::Crowd(options) => crowd::run(&options),
        Trial::Amca(options) => amca::run(&options),
        Trial::Speed(options) => speed::run(&options),
        Trial::Share(options) => share::run(&options, &std::env::current_exe()?),
        Trial::Peers(options) => peers::run(&options),
        Trial::TcpSink(options) => tcp::sink(&options),
        Trial::TcpSource(options) => tcp::source(&options),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("The trials need Linux.");
}
