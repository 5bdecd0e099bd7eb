.PHONY: build docs test race lint fuzz mutants vulnerabilities bench count release

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o cb .
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -tags tls -o cb-tls .

docs: # the manual pages and completions of a release
	go run ./internal/gendocs build

test:
	go test ./...

race:
	go test -race -short ./...

lint:
	golangci-lint run ./...

fuzz:
	.ci/fuzz 10s

mutants:
	.ci/mutants

vulnerabilities:
	.ci/vulnerabilities

bench:
	go run ./bench

count: # what `make bench` measures, in instructions; fails above the baseline
	go run ./bench -count

release:
	.ci/release
