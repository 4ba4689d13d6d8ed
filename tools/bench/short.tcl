# The short flows of crates/netsim/examples/short_flows.rs for ns-2:
# ns short.tcl MBIT SECONDS LOAD PACKETS PAIRS
# Agents that are done are used again after a second.
lassign $argv mbit seconds load packets pairs
remove-all-packet-headers
add-packet-header IP TCP Flags
source [file join [file dirname [info script]] bell.tcl]
bell $mbit $pairs

Agent/TCP set packetSize_ 960
Agent/TCP set window_ 10000
set gap [new RandomVariable/Exponential]
$gap set avg_ [expr {$packets * 8e-3 * 100 / $load / $mbit}]
set draws [new RNG]
$draws seed 1
$gap use-rng $draws
set started 0
set finished 0
set spent 0.0
for {set i 0} {$i < $pairs} {incr i} { set idle($i) {} }

proc new_flow pair {
    global ns source sink receiver_of pair_of
    set sender [new Agent/TCP/Sack1]
    set receiver [new Agent/TCPSink/Sack1]
    $ns attach-agent $source($pair) $sender
    $ns attach-agent $sink($pair) $receiver
    $ns connect $sender $receiver
    $sender proc done {} "finish $sender"
    set receiver_of($sender) $receiver
    set pair_of($sender) $pair
    return $sender
}

proc start {} {
    global ns gap started pairs packets idle receiver_of since
    set pair [expr {$started % $pairs}]
    incr started
    if {[llength $idle($pair)]} {
        set sender [lindex $idle($pair) end]
        set idle($pair) [lreplace $idle($pair) end end]
        $sender reset
        $receiver_of($sender) reset
    } else {
        set sender [new_flow $pair]
    }
    set since($sender) [$ns now]
    $sender advanceby $packets
    $ns at [expr {[$ns now] + [$gap value]}] start
}

proc finish sender {
    global ns finished spent since
    incr finished
    set spent [expr {$spent + [$ns now] - $since($sender)}]
    $ns at [expr {[$ns now] + 1.0}] "recycle $sender"
}

proc recycle sender {
    global idle pair_of
    lappend idle($pair_of($sender)) $sender
}

proc report_flows {} {
    global started finished spent
    puts "flows $started finished $finished mean [format %.1f [expr {1e3 * $spent / max(1, $finished)}]] ms"
}

$ns at 0 start
run $mbit $seconds report_flows
