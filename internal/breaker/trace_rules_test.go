package breaker

import "testing"

// One test for each trip rule, and for what options do that share a circuit.

func TestConsecutiveRule(t *testing.T) {
	tell(t,
		story{"a success sets the streak to 0", "F F S F F =closed streak=2 F =open"},
		story{"threshold 1", "{threshold=1} F =open why=1_failure_in_a_row"},
		story{"threshold 1000", "{threshold=1000} F*999 =closed F =open why=1000_failures_in_a_row"},
		story{"no decay with time", "F +720h F +720h F =open"},
		story{"a window takes its place", "{window=10,threshold=5} F*4 =closed streak=4 S*5 F =open"},
	)
}

func TestFailureTTL(t *testing.T) {
	tell(t,
		story{"a failure more than that after the previous one is the first", "{failure-ttl=1h} F F +1h1ns F =closed streak=1 F F =open"},
		story{"exactly that is not more", "{failure-ttl=1h} F F +1h F =open"},
		story{"each failure counts from the one before", "{failure-ttl=1h} F +59m F +59m F =open"},
		story{"a success between them changes nothing", "{failure-ttl=1h} F +50m S +50m F F =closed streak=2"},
		story{"it is the option of the run that fails", "{failure-ttl=1h} F F +2h {} F =open"},
	)
}

func TestCountWindow(t *testing.T) {
	tell(t,
		story{"5 of 10 is judged at ten outcomes", "{window=10,threshold=5} F*5 S*4 =closed F =open why=6_of_the_last_10_runs_failed"},
		story{"K failures among the last N", "{window=10,threshold=5} S*6 F*4 =closed S F =open why=5_of_the_last_10_runs_failed"},
		story{"what is older than N runs does not count", "{window=4,threshold=3} F F S S S F F =closed window=2/4 F =open"},
		story{"one failure leaves as another enters", "{window=4,threshold=3} F F S S F =closed window=2/4"},
		story{"--min-calls judges earlier", "{window=10,threshold=5,min-calls=5} F*4 =closed F =open"},
		story{"--min-calls is reached, not passed", "{window=10,threshold=2,min-calls=4} F F S =closed F =open"},
		story{"ignored runs are no outcomes", "{window=4,threshold=2} F I*9 F S =closed F =open"},
		story{"refusals are none either", "{window=3,threshold=2} F S hold X*5 enable window=1/2 F =open"},
		story{"a window of the whole size", "{window=1000,threshold=1000} F*999 =closed F =open"},
		story{"a thousand are kept, no more", "{window=1000,threshold=1000} S F*998 S S =closed kept=1000 window=998/1000"},
	)
}

func TestTimeWindow(t *testing.T) {
	tell(t,
		story{"K failures within the time", "{window=10m,threshold=3} F +4m F +4m F =open why=3_failures_within_10m"},
		story{"an outcome leaves exactly at its end", "{window=10m,threshold=3} F +5m F +5m F =closed window=2/2"},
		story{"and not before", "{window=10m,threshold=3} F +5m F +4m59.999999999s F =open"},
		story{"successes between them do not matter", "{window=10m,threshold=3} F S*50 F S*50 F =open"},
		story{"it is judged at the first outcome", "{window=10m,threshold=1} F =open why=1_failure_within_10m"},
		story{"unless --min-calls", "{window=10m,threshold=2,min-calls=5} F*4 =closed F =open"},
		story{"more than a thousand in the time", "{window=10m,threshold=1000} S F*999 =closed S F*999 =closed window=999/1000 F =open"},
		story{"the outcomes of the whole time are kept", "{window=10m,threshold=3} F F +6m S*40 F =open"},
		story{"what is kept for people does not count", "{window=1m,threshold=3} F F +2m F =closed window=1/1 kept=3"},
	)
}

func TestFailureRate(t *testing.T) {
	tell(t,
		story{"57 of 100 meets 57 percent", "{window=100,failure-rate=57} S*43 F*56 =closed F =open why=failure_rate_57%_(57_of_100_runs)"},
		story{"56 of 100 does not", "{window=100,failure-rate=57} S*44 F*56 =closed window=56/100 F =open"},
		story{"in integers: 29 of 50 meets 58 percent, 57 of 99 does not", "{window=50,failure-rate=58} S*21 F*28 =closed F =open reset {window=99,failure-rate=58} S*42 F*57 =closed window=57/99"},
		story{"100 percent", "{window=3,failure-rate=100} F F S F F =closed F =open"},
		story{"1 percent", "{window=100,failure-rate=1} S*99 F =open"},
		story{"a count window is judged when it is full", "{window=10,failure-rate=50} F*9 =closed F =open"},
		story{"or at --min-calls", "{window=10,failure-rate=50,min-calls=4} F F F =closed F =open"},
		story{"a time window is judged at ten", "{window=10m,failure-rate=50} F*9 =closed F =open why=failure_rate_100%_(10_of_10_runs)"},
		story{"or at --min-calls", "{window=10m,failure-rate=50,min-calls=2} F =closed F =open"},
		story{"only what lies within the time", "{window=10m,failure-rate=50,min-calls=2} S*9 +10m F =closed F =open"},
		story{"the default threshold does not go with it", "{window=10m,failure-rate=90} S*7 F*3 =closed"},
		story{"a threshold that is given may trip too", "{window=10m,failure-rate=90,threshold=3} S*7 F*2 =closed F =open why=3_failures_within_10m"},
		story{"and the rate before the threshold", "{window=10,failure-rate=20,threshold=10} S*8 F =closed F =open why=failure_rate_20%_(2_of_10_runs)"},
		story{"half-open uses no rate and no minimum", "{window=10m,failure-rate=50} F*10 +60s F =open reopens=1 +60s S =closed"},
	)
}

func TestDifferentOptions(t *testing.T) {
	tell(t,
		story{"four failures under 5, then a success under 3", "{threshold=5} F*4 {threshold=3} S =closed streak=0"},
		story{"four failures under 5, then a failure under 3", "{threshold=5} F*4 {threshold=3} F =open why=5_failures_in_a_row"},
		story{"options alone trip nothing", "{threshold=5} F*4 {threshold=3} a( =closed a)I =closed streak=4"},
		story{"tripped with 10m, a run with 1m two minutes later", "{timeout=10m} F*3 +2m {timeout=1m} X retry=8m"},
		story{"a change of options resets nothing", "F F {window=10m,threshold=9} F {threshold=4} F =open"},
		story{"streak and windows go on side by side", "{threshold=9} F*4 {window=5,threshold=5} F =open why=5_of_the_last_5_runs_failed"},
		story{"a longer window sees what a shorter one kept", "{window=5,threshold=5} F F S*30 {window=40,threshold=3} S*7 =closed F =open"},
		story{"a wide window keeps its outcomes through other runs", "{window=60,threshold=60} F {threshold=1000} F*58 =closed {window=60,threshold=60} F =open"},
		story{"a reset forgets what the windows kept, too", "{window=60,threshold=60} F*59 {} S reset S*40 kept=32"},
	)
}
