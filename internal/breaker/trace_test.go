package breaker

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"
)

// A story is a line of words that are told to one circuit, from left to right.
//
// Runs
//
//	S F L I         a run is permitted and ends at once: success, failure, slow, ignored
//	X  X:open       a run is refused; and why: open, held, probe
//	F*3             the word three times
//	a(   a)F        run a is permitted; it ends, with F. Runs overlap: "a( b( a)F b)S"
//	a!              the process of run a dies
//	a(acquired      permitted in two steps: no lease tells of its death, and a ticket
//	                tells it from others, so that "a)F a)F" counts once
//	b(under:a       run b is started by the command of run a
//	o:F             an outcome that was seen elsewhere is recorded without a permit
//
// The operator
//
//	trip hold disable enable reset    trip:10m and hold:10m last that long
//
// Time
//
//	+59s  -24h      time passes; the wall clock is found set back after a restart
//	step:-24h       the wall clock is set while the system runs, which the store
//	                can tell: it shifts the circuit
//
// Options
//
//	{window=10,threshold=5}   the policy of the runs from here on: threshold 3,
//	                timeout 60s and the defaults, but for what is named, by its flag
//
// Checks
//
//	=open           what holds now: closed, open, half-open, held, disabled
//	streak=2        a number: see numbers
//	window=3/10     failures and outcomes that the policy's window judges
//	retry=60s       the time until the next try, or its bounds: retry=54s..66s
//	told=open>half-open,half-open>closed    what Between tells of the last step, or "nothing"
//	why=probe_lost  the reason for which it opened, _ for blanks
//	gen=new         since the last such check the generation has changed, or is the same
type story struct {
	name string
	text string
}

// tell runs stories, each as a test of its own.
func tell(t *testing.T, stories ...story) {
	t.Helper()
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			teller := &teller{w: newWorld(t), named: map[string]*run{}}
			teller.w.t = teller
			teller.t, teller.policy = t, storyPolicy(t, "")
			for word := range strings.FieldsSeq(s.text) {
				teller.told = append(teller.told, word)
				word, times, _ := strings.Cut(word, "*")
				last := max(1, atoi(times)) - 1
				for i := range last + 1 {
					teller.w.brief = i > 0 && i < last-1
					teller.word(word)
				}
			}
		})
	}
}

// teller is a story that is being told.
type teller struct {
	t      *testing.T
	w      *world
	policy Policy
	named  map[string]*run
	told   []string // the words so far
	gen    uint64   // as last checked
}

func (s *teller) Helper() { s.t.Helper() }

// Fatalf ends the story and shows where.
func (s *teller) Fatalf(format string, args ...any) {
	s.t.Helper()
	s.t.Fatalf("%s  <- %s", strings.Join(s.told, " "), fmt.Sprintf(format, args...))
}

// word tells one word.
func (s *teller) word(word string) {
	s.t.Helper()
	if key, value, ok := strings.Cut(word, "="); ok && word[0] != '{' {
		s.check(key, value)
		return
	}
	name, argument, _ := strings.Cut(word, ":")
	switch {
	case strings.HasPrefix(word, "{"):
		s.policy = storyPolicy(s.t, strings.Trim(word, "{}"))
	case strings.Contains(word, "("):
		s.begin(word)
	case strings.Contains(word, ")"):
		name, letter, _ := strings.Cut(word, ")")
		s.w.finish(s.run(name), s.outcome(letter))
	case strings.HasSuffix(word, "!"):
		s.run(strings.TrimSuffix(word, "!")).dead = true
	case word[0] == '+' || word[0] == '-':
		s.w.now = s.w.now.Add(s.duration(word))
	case name == "step":
		s.w.now = s.w.now.Add(s.duration(argument))
		s.w.c = s.w.c.Shift(s.duration(argument))
	case name == "X":
		s.refuse(argument)
	case name == "o":
		s.w.observe(s.outcome(argument))
	case len(word) == 1:
		s.w.finish(s.permit(Caller{Leased: true}), s.outcome(word))
	default:
		s.command(name, argument)
	}
}

// begin tells "a(", "a(acquired" and "a(under:b".
func (s *teller) begin(word string) {
	s.t.Helper()
	name, how, _ := strings.Cut(word, "(")
	how, of, _ := strings.Cut(how, ":")
	who := Caller{PID: 1, Host: "h", Leased: true}
	switch how {
	case "acquired":
		who.Leased, who.Ticket = false, true
	case "under":
		who.Tokens = []string{"0000000000000000", s.run(of).permit.Probe}
	case "":
	default:
		s.Fatalf("unknown kind of run %q", how)
	}
	s.named[name] = s.permit(who)
	if through := s.named[name].permit.Through; through != (how == "under" || s.w.c.Override.Kind == Disabled) {
		s.Fatalf("the run passes through: %v", through)
	}
}

func (s *teller) permit(who Caller) *run {
	s.t.Helper()
	r, refused := s.w.admit(s.policy, who)
	if refused != nil {
		s.Fatalf("refused: %v, retry in %v", refused, refused.In)
	}
	return r
}

func (s *teller) refuse(why string) {
	s.t.Helper()
	_, refused := s.w.admit(s.policy, Caller{Leased: true})
	if refused == nil {
		s.Fatalf("permitted")
	}
	word := [...]string{RefusedOpen: "open", RefusedHeld: "held", RefusedProbe: "probe"}[refused.Refusal]
	if why != "" && word != why {
		s.Fatalf("refused because of %q", word)
	}
}

func (s *teller) command(name, length string) {
	s.t.Helper()
	command := map[string]func(Circuit, Order) Circuit{
		"trip": Circuit.Trip, "hold": Circuit.Hold, "disable": Circuit.Disable,
		"enable": Circuit.Enable, "reset": Circuit.Reset,
	}[name]
	if command == nil {
		s.Fatalf("unknown word")
	}
	s.w.order(command, s.duration(length))
}

// check compares one fact.
func (s *teller) check(key, want string) {
	s.t.Helper()
	got := "no such check"
	switch key {
	case "":
		got = s.w.c.Shown()
	case "told":
		got = s.between()
	case "why":
		got = strings.ReplaceAll(s.w.c.Reason, " ", "_")
	case "gen":
		got = map[bool]string{true: "same", false: "new"}[s.w.c.Generation == s.gen]
		s.gen = s.w.c.Generation
	case "retry":
		least, most, isRange := strings.Cut(want, "..")
		if !isRange {
			most = least
		}
		left := s.w.c.RetryAt.Sub(s.w.now)
		if got = left.String(); s.duration(least) <= left && left <= s.duration(most) {
			return
		}
	case "window":
		calls, failures := s.w.c.Window(s.policy, s.w.now)
		got = fmt.Sprintf("%d/%d", failures, calls)
	default:
		if n, ok := s.numbers()[key]; ok {
			got = strconv.Itoa(n)
		}
	}
	if got != want {
		s.Fatalf("%s", got)
	}
}

func (s *teller) numbers() map[string]int {
	c := s.w.c
	return map[string]int{
		"streak": c.Streak, "reopens": c.Reopens, "skipped": c.Skipped, "probes": len(c.Probes), "kept": len(c.Calls),
		"successes": c.Totals.Successes, "failures": c.Totals.Failures, "ignored": c.Totals.Ignored,
		"late": c.Totals.Late, "lost": c.Totals.Lost, "refused": c.Totals.Refused, "trips": c.Totals.Trips,
		"transitions": c.Recorded,
	}
}

func (s *teller) between() string {
	var told []string
	for _, t := range Between(s.w.before, s.w.c) {
		told = append(told, t.From+">"+t.To)
	}
	if told == nil {
		return "nothing"
	}
	return strings.Join(told, ",")
}

func (s *teller) run(name string) *run {
	s.t.Helper()
	if s.named[name] == nil {
		s.Fatalf("no run %q was permitted", name)
	}
	return s.named[name]
}

func (s *teller) outcome(letter string) Outcome {
	s.t.Helper()
	at := strings.Index("SFLI", letter)
	if at < 0 || len(letter) != 1 {
		s.Fatalf("unknown outcome %q", letter)
	}
	return Outcome(at)
}

// duration reads a length of time; "" is zero.
func (s *teller) duration(text string) time.Duration {
	s.t.Helper()
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		s.Fatalf("%v", err)
	}
	return d
}

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return n
}
