package cmd

import (
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"cb/internal/notify"
	"cb/internal/store"
)

// metricsMode is that of a new metrics file: its reader is another user.
const metricsMode = 0o644

// metricsTries bounds how often a metrics file is written again because
// circuits have changed meanwhile.
const metricsTries = 10

func newMetrics(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:   "metrics",
		Short: "Write all circuits as metrics, in the text format of Prometheus",
		Long: `Write the state, the counts and the last run of all circuits to stdout, in the
text format of Prometheus. Nothing is changed. --metrics-file of cb run keeps a
file of the same up to date, for the textfile collector of node_exporter.`,
		Example: `  cb metrics
  cb metrics | curl -fsS --data-binary @- http://pushgateway:9091/metrics/job/cb`,
		GroupID:           groupLook,
		Args:              noArgs,
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE:              func(c *cobra.Command, _ []string) error { return env.metrics(c) },
	}
}

func (env *Env) metrics(c *cobra.Command) error {
	circuits, err := env.openStore(c)
	if err != nil {
		return err
	}
	defer circuits.Close()
	samples, broken, err := sampled(circuits)
	if err != nil {
		return fmt.Errorf("cannot read %s (%s)", circuits.Place(), store.Cause(err))
	}
	for _, one := range broken {
		env.warn(one)
	}
	return notify.Metrics(env.Stdout, samples) //nolint:wrapcheck // notify says what it was doing
}

// sampled returns the samples of all circuits in the order of their names, and
// what there is to say of those that cannot be read.
func sampled(circuits circuitStore) (samples []notify.Sample, broken []string, err error) {
	for entry, err := range circuits.List() {
		switch {
		case err != nil && entry.Name == "":
			return nil, nil, err
		case err != nil:
			broken = append(broken, fmt.Sprintf("cannot read %s (%s)", entry.Name, store.Cause(err)))
		default:
			samples = append(samples, notify.SampleOf(entry.Name, entry.Circuit.Found(entry.Now)))
		}
	}
	return samples, broken, nil
}

// writeMetrics writes the metrics file of a run. Circuits that have changed
// meanwhile are looked at again: of two runs that end at the same time, the
// one that writes last must not leave the other's result out.
func (r *run) writeMetrics() {
	file := r.opts.metricsFile
	if file == "" {
		return
	}
	var written []notify.Sample
	for try := range metricsTries {
		samples, broken, err := sampled(r.circuits)
		if err == nil && try > 0 && slices.Equal(samples, written) {
			return
		}
		if err == nil {
			err = notify.WriteFile(file, metricsMode, func(w io.Writer) error { return notify.Metrics(w, samples) })
		}
		if err != nil {
			r.env.warn(fmt.Sprintf("cannot write the metrics to %s (%s)", file, store.Cause(err)))
			return
		}
		if try == 0 {
			for _, one := range broken {
				r.env.warn(one)
			}
		}
		written = samples
	}
}
