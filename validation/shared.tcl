# Connections that share a bottleneck, for ns-2 2.35:
#   ns validation/shared.tcl TCP RATE QUEUE LIMIT MIN MAX WEIGHT FROM UNTIL REPLICATION START...
# Access links of 1 Gbit/s and 5 ms on both sides of a bottleneck of RATE bit/s and 40 ms; one connection for each START.
# QUEUE is drop-tail, red, red-auto or rem with room for LIMIT packets of 1000 bytes; MIN, MAX and WEIGHT are those of red.
# Prints what the bottleneck's queue did from FROM to UNTIL, in seconds, and the packets acknowledged to each connection.
source [file join [file dirname [info script]] agents.tcl]
foreach {name rate queue limit min max weight from until replication} $argv break
set starts [lrange $argv 10 end]
Agent/TCP set window_ 5000
Queue/DropTail set mean_pktsize_ 1000
Queue/DropTail set queue_in_bytes_ true
if {$queue eq "red"} {
 Queue/RED set thresh_ $min
 Queue/RED set maxthresh_ $max
 Queue/RED set q_weight_ $weight
 Queue/RED set mean_pktsize_ 1000
}
# In packets of the size that RED counts in.
set room [expr {$queue eq "red-auto" ? 2 * $limit : $limit}]
array set kinds { drop-tail DropTail red RED red-auto RED rem REM }
choose_replication $replication
set ns [new Simulator]
$ns rtproto Static
set left [$ns node]; set right [$ns node]
$ns simplex-link $left $right $rate 40ms $kinds($queue)
$ns simplex-link $right $left $rate 40ms DropTail
$ns queue-limit $left $right $room
$ns queue-limit $right $left 1000000
set monitor [$ns monitor-queue $left $right [open /dev/null w]]
set tcps {}
foreach start $starts {
 set from_node [$ns node]; set to_node [$ns node]
 foreach {a b} [list $from_node $left $right $to_node] {
  $ns duplex-link $a $b 1Gb 5ms DropTail
  $ns queue-limit $a $b 1000000
  $ns queue-limit $b $a 1000000
 }
 foreach {tcp source} [connect_tcp $ns $name $from_node $to_node 0 1000] break
 $ns at $start "$source start"
 lappend tcps $tcp
}
# The time integral of the waiting packets until now.
proc waiting {} {
 global ns monitor
 set integrator [$monitor get-pkts-integrator]
 $integrator newpoint [$ns now] [$integrator set lasty_]
 return [$integrator set sum_]
}
proc counts {} {
 global monitor tcps
 set row [list [waiting] [$monitor set pdrops_] [$monitor set pdepartures_]]
 foreach tcp $tcps { lappend row [$tcp set ack_] }
 return $row
}
proc tell {} {
 global before
 foreach name {waiting drops departures} early $before late [counts] {
  puts "[expr {$name eq "" ? "packets" : $name}] [expr {$late - $early}]"
 }
 exit 0
}
$ns at $from {set before [counts]}
$ns at $until tell
$ns run
