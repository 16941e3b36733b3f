# One TFRC flow beside TCPs at a shared bottleneck, as scenarios/tfrc/shared-link.toml has it, for ns-2 2.35:
#   ns validation/tfrc_shared.tcl TCPS QUEUE CBR OVERHEAD REPLICATION [FROM UNTIL [DELAY TFRC TCP]]
# The bottleneck sends (TCPS + 2) 16 packets of 1000 bytes in 100 ms and has room for one and a half times that, in bytes.
# QUEUE is drop-tail or red (thresholds of an eighth and three eighths of a bandwidth-delay product, weight 0.002). CBR is
# the rate of a constant flow in packets per 100 ms, 0 for none. OVERHEAD is what TCPs wait at random, at most, in packet
# times of the bottleneck. From FROM to UNTIL (30 s and 300 s) it prints the kbit/s of TFRC, the mean of the TCPs, the
# smallest and the largest of them, and the losses of the queue in percent: of TFRC, of the TCPs. DELAY, in ms, and TFRC and
# TCP, in s, take the place of the drawn access delays of the TCPs and of the drawn starts.
source [file join [file dirname [info script]] agents.tcl]
foreach {tcps queue cbr overhead replication} $argv break
set from [expr {[llength $argv] > 5 ? [lindex $argv 5] : 30}]
set until [expr {[llength $argv] > 6 ? [lindex $argv 6] : 300}]
foreach {delay tfrc_start tcp_start} [lrange $argv 7 end] break
# A value between two numbers, unless it is given.
proc drawn {name low high} {
 global defaultRNG $name
 return [expr {[info exists $name] ? [set $name] : [$defaultRNG uniform $low $high]}]
}
set in_round_trip [expr {($tcps + 2) * 16.0}]
set rate [expr {$in_round_trip * 80e3}]
set room [expr {int($in_round_trip * 1.5)}]
# ns-2 before 18 October 2004.
Agent/TCP set window_ 10000
Agent/TCP set minrto_ 1
Agent/TCP set rtxcur_init_ 6
Agent/TCP set overhead_ [expr {$overhead * 8000 / $rate}]
Queue/DropTail set mean_pktsize_ 1000
Queue/DropTail set queue_in_bytes_ true
Queue/RED set thresh_ [expr {$in_round_trip / 8}]
Queue/RED set maxthresh_ [expr {$in_round_trip * 3 / 8}]
Queue/RED set q_weight_ 0.002
Queue/RED set mean_pktsize_ 1000
choose_replication $replication
set ns [new Simulator]
$ns rtproto Static
foreach node {source left right sink} { set $node [$ns node] }
array set kinds { drop-tail DropTail red RED }
$ns simplex-link $left $right $rate 40ms $kinds($queue)
$ns simplex-link $right $left $rate 40ms DropTail
$ns queue-limit $left $right $room
$ns queue-limit $right $left 1000000
proc access {a b delay} {
 global ns
 $ns duplex-link $a $b 1Gb $delay DropTail
 $ns queue-limit $a $b 1000000
 $ns queue-limit $b $a 1000000
}
access $source $left 5ms
access $right $sink 5ms
set monitor [$ns makeflowmon Fid]
$ns attach-fmon [$ns link $left $right] $monitor
set tfrc [new Agent/TFRC]
set report [new Agent/TFRCSink]
# 1000 bytes on the wire as all others, without the 32 that ns-2 2.35 adds for headers.
$tfrc set useHeaders_ false
$tfrc set packetSize_ 1000
$tfrc set fid_ 1
$ns attach-agent $source $tfrc
$ns attach-agent $sink $report
$ns connect $tfrc $report
$ns at [drawn tfrc_start 0 20] "$tfrc start"
if {$cbr > 0} {
 set udp [new Agent/UDP]
 $udp set packetSize_ 1000
 $udp set fid_ 2
 set constant [new Application/Traffic/CBR]
 $constant set packetSize_ 1000
 $constant set rate_ [expr {$cbr * 80e3}]
 $constant attach-agent $udp
 $ns attach-agent $source $udp
 set null [new Agent/Null]
 $ns attach-agent $sink $null
 $ns connect $udp $null
 $ns at [$defaultRNG uniform 0 20] "$constant start"
}
set agents {}
for {set i 0} {$i < $tcps} {incr i} {
 set end [$ns node]
 access $right $end [expr {[drawn delay 5 6] / 1e3}]
 foreach {tcp application} [connect_tcp $ns sack $source $end 0 1000] break
 $tcp set fid_ [expr {3 + $i}]
 $ns at [drawn tcp_start 0 20] "$application start"
 lappend agents $tcp
}
# What came to the queue and what it dropped, of TFRC and of the TCPs, and what was acknowledged to each of them.
proc counts {} {
 global monitor agents
 set row {0 0 0 0}
 foreach flow [$monitor flows] {
  set at [expr {[$flow set flowid_] == 1 ? 0 : 2}]
  if {[$flow set flowid_] == 2} continue
  lset row $at [expr {[lindex $row $at] + [$flow set parrivals_]}]
  lset row [expr {$at + 1}] [expr {[lindex $row [expr {$at + 1}]] + [$flow set pdrops_]}]
 }
 foreach tcp $agents { lappend row [$tcp set ack_] }
 return $row
}
proc tell {} {
 global before from until tcps
 set row {}
 foreach early $before late [counts] { lappend row [expr {double($late - $early)}] }
 foreach {came dropped tcp_came tcp_dropped} $row break
 set kbps [expr {8.0 / ($until - $from)}]
 set each [lsort -real [lrange $row 4 end]]
 set sum 0
 foreach packets $each { set sum [expr {$sum + $packets}] }
 puts [format "%.1f %.1f %.1f %.1f %.4f %.4f" [expr {($came - $dropped) * $kbps}] [expr {$sum * $kbps / $tcps}] \
  [expr {[lindex $each 0] * $kbps}] [expr {[lindex $each end] * $kbps}] \
  [expr {100 * $dropped / $came}] [expr {100 * $tcp_dropped / $tcp_came}]]
 exit 0
}
$ns at $from {set before [counts]}
$ns at $until tell
$ns run
