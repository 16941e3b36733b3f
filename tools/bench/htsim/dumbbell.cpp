// The dumbbell of tools/bench/src/networks.rs for csg-htsim, to compare speed:
//   htsim-dumbbell CONNECTIONS MBIT/S SECONDS
// One bottleneck of 40 ms with a queue of one bandwidth-delay product, access links of 1 Gbit/s and 5 ms, long
// connections that start within 5 s, packets of 1000 bytes, acknowledgements of 40 bytes for each packet, no logging.
//
// What differs: its TCP is NewReno without SACK, opens with a handshake and a window of 10 packets, and leaves slow start
// at 100 packets. A link is a queue and a pipe, and the packet in transmission counts as queued.
//
// Prints "hops N": transmissions of a packet on a link. A delivered packet is three, its acknowledgement three
// more, and a packet that the bottleneck dropped is one. Nothing is counted in the loop, so the run costs what it costs
// without us.

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <random>
#include <vector>

#include "config.h"
#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

namespace {

const int PACKET_BYTES = 1000;
const int LINKS_ONE_WAY = 3;
const mem_b UNLIMITED = mem_b(1) << 40;

// A link in one direction: its queue with the transmitter, then its wire.
struct Link {
    Queue* queue;
    Pipe* pipe;
};

Link new_link(EventList& events, linkspeed_bps rate, double delay_ms, mem_b limit) {
    return {new Queue(rate, limit, events, NULL), new Pipe(timeFromMs(delay_ms), events)};
}

// The links of a path and the endpoint behind them.
Route* new_route(const std::vector<Link>& links, PacketSink& end) {
    Route* route = new Route();
    for (const Link& link : links) {
        route->push_back(link.queue);
        route->push_back(link.pipe);
    }
    route->push_back(&end);
    return route;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: %s CONNECTIONS MBIT/S SECONDS\n", argv[0]);
        return 2;
    }
    const int connections = std::atoi(argv[1]);
    const double mbps = std::atof(argv[2]);
    const double seconds = std::atof(argv[3]);

    // It prints a line for every timeout; that is no work of the simulation.
    std::cout.setstate(std::ios_base::failbit);
    Packet::set_packet_size(PACKET_BYTES);
    EventList& events = EventList::getTheEventList();
    events.setEndtime(timeFromSec(seconds));

    const linkspeed_bps access = speedFromMbps(1000.0);
    const mem_b product = mem_b(mbps * 1e6 / 8 * 0.1);
    const Link there = new_link(events, speedFromMbps(mbps), 40, product);
    const Link back = new_link(events, speedFromMbps(mbps), 40, product);
    TcpRtxTimerScanner timers(timeFromMs(100.0), events);

    std::mt19937 random(1);
    std::uniform_real_distribution<double> starts(0, 5);
    std::vector<TcpSink*> sinks;
    for (int i = 0; i < connections; i++) {
        TcpSrc* source = new TcpSrc(NULL, NULL, events);
        TcpSink* sink = new TcpSink();
        Route* out = new_route({new_link(events, access, 5, UNLIMITED), there, new_link(events, access, 5, UNLIMITED)}, *sink);
        Route* in = new_route({new_link(events, access, 5, UNLIMITED), back, new_link(events, access, 5, UNLIMITED)}, *source);
        timers.registerTcp(*source);
        source->connect(*out, *in, *sink, timeFromSec(starts(random)));
        sinks.push_back(sink);
    }

    // An end at 0 s means no end to it.
    if (seconds > 0) {
        while (events.doNextEvent()) {
        }
    }

    uint64_t delivered_bytes = 0;
    for (const TcpSink* sink : sinks) delivered_bytes += sink->_packets;
    const uint64_t delivered = delivered_bytes / PACKET_BYTES;
    const uint64_t dropped = there.queue->num_drops() + back.queue->num_drops();
    std::printf("hops %llu\n", (unsigned long long)(2 * LINKS_ONE_WAY * delivered + dropped));
    std::fprintf(stderr, "delivered %llu, dropped %llu\n", (unsigned long long)delivered, (unsigned long long)dropped);
    return 0;
}
