# One connection over one link, told packet by packet, for ns-2 2.35:
#   ns validation/exact.tcl TCP DELAYED WINDOW LIMIT SECONDS STEP OFFSET LOST...
# Packets of 320 bytes take 1/64 s on the link, acknowledgements 1/512 s for each 8 bytes, and both 1/8 s to arrive. All
# times are whole multiples of 1/512 s, timers too, so that seconds in floating point are exact.
# DELAYED is 0 or 1; LIMIT is that of the drop-tail queue in front of the data, in packets; LOST are the packets to lose, by
# the order in which they come to the link, from 0.
# Prints "state" at OFFSET and each STEP after it, among the trace of the link.
source [file join [file dirname [info script]] agents.tcl]
foreach {name delayed window limit seconds step offset} $argv break
set lost [lrange $argv 7 end]
Agent/TCP set window_ $window
Agent/TCP set minrto_ 0.5
Agent/TCPSink/DelAck set interval_ 0.125
Agent/TCPSink/Sack1/DelAck set interval_ 0.125
set ns [new Simulator]
set a [$ns node]; set b [$ns node]
$ns simplex-link $a $b 163840 0.125 DropTail
$ns simplex-link $b $a 32768 0.125 DropTail
$ns queue-limit $a $b $limit
$ns queue-limit $b $a 1000000
if {[llength $lost]} {
 set errors [new ErrorModel/List]
 $errors droplist $lost
 $errors drop-target [new Agent/Null]
 $ns lossmodel $errors $a $b
}
$ns trace-queue $a $b stdout
foreach {tcp source} [connect_tcp $ns $name $a $b $delayed 320] break
proc state {} {
 global tcp
 set row state
 foreach variable {cwnd_ ssthresh_ ack_ dupacks_ maxseq_ t_seqno_ backoff_ ndatapack_} { lappend row [$tcp set $variable] }
 puts $row
}
for {set i 0} {$offset + $i * $step < $seconds} {incr i} { $ns at [expr {$offset + $i * $step}] state }
# ns-2 times round trips in ticks with a clock that is off by up to a tick, drawn at the start. Drawn from less than what
# all times are multiples of, it moves no sample across a tick.
$tcp set tcpTick_ [expr {1.0 / 512}]
$ns at 0 "$tcp set tcpTick_ [expr {1.0 / 128}]; $source start"
$ns at $seconds {flush stdout; exit 0}
$ns run
