.PHONY: build test race lint fuzz mutants bench release

build:
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o cb .
	CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -tags tls -o cb-tls .

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

bench:
	go run ./bench

release:
	.ci/release
