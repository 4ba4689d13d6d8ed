# The bulk flows of crates/netsim/examples/dumbbell.rs for ns-2:
# ns dumbbell.tcl FLOWS MBIT SECONDS PAIRS
lassign $argv flows mbit seconds pairs
remove-all-packet-headers
add-packet-header IP TCP Flags
source [file join [file dirname [info script]] bell.tcl]
bell $mbit $pairs

set starts [new RNG]
$starts seed 1
for {set i 0} {$i < $flows} {incr i} {
    set pair [expr {$i % $pairs}]
    set sender [new Agent/TCP/Sack1]
    $sender set packetSize_ 960
    $sender set window_ [expr {max(64, 4 * [pipe $mbit])}]
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $source($pair) $sender
    $ns attach-agent $sink($pair) $receiver
    $ns connect $sender $receiver
    set ftp [new Application/FTP]
    $ftp attach-agent $sender
    $ns at [$starts uniform 0 1.0] "$ftp start"
}
run $mbit $seconds
