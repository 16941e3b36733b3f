# What users install: a Debian package, or the same files below PREFIX. The Makefile includes this file.
# docs/install.md explains both.

CARGO_DEB_VERSION := 3.8.0
# Here the package's description in crates/cli/Cargo.toml looks for what the program writes.
PACKAGE := $(abspath $(TARGET))/release/package
PREFIX ?= /usr/local
# For packagers: everything goes below this directory, and no file names it.
DESTDIR ?=
SYSTEMD_UNITS ?= $(PREFIX)/lib/systemd/system

.PHONY: package deb install uninstall

package: build ## Build the program and write its manual pages and completions, for make deb and make install
	@rm -rf $(PACKAGE) && mkdir -p $(PACKAGE)/completions
	$(LAYERCAST) man --out $(PACKAGE)/man
	gzip --best --no-name $(PACKAGE)/man/*.1
	$(CARGO) run --quiet --locked --package layercast-tidy --example notices | gzip --best --no-name > $(PACKAGE)/third-party-licences.gz
	$(LAYERCAST) completions bash > $(PACKAGE)/completions/layercast.bash
	$(LAYERCAST) completions zsh > $(PACKAGE)/completions/_layercast
	$(LAYERCAST) completions fish > $(PACKAGE)/completions/layercast.fish

deb: package ## A Debian package: target/debian/layercast_VERSION_ARCHITECTURE.deb
	@[[ "$$($(CARGO) deb --version 2>/dev/null)" == *"$(CARGO_DEB_VERSION)"* ]] || { \
	  echo "cargo-deb $(CARGO_DEB_VERSION) is missing and is installed now: cargo install cargo-deb"; \
	  $(CARGO) install cargo-deb --version $(CARGO_DEB_VERSION) --locked; }
	@command -v dpkg-shlibdeps >/dev/null 2>&1 || { \
	  echo "dpkg-shlibdeps is missing: it finds the libraries that the package needs. On Debian: apt-get install dpkg-dev" >&2; exit 1; }
	$(CARGO) deb --package layercast-cli --no-build --strip

# Builds nothing: who may install often has no Rust, and would leave files in the target folder that others cannot remove.
install: ## Install the program, manual pages, completions and units below PREFIX (/usr/local), after make package
	@[ -x $(LAYERCAST) ] && [ -d $(PACKAGE)/man ] || { \
	  echo "Nothing is built in $(TARGET). Run make package first, as yourself." >&2; exit 1; }
	install -D -m 755 $(LAYERCAST) $(DESTDIR)$(PREFIX)/bin/layercast
	install -D -m 644 $(PACKAGE)/third-party-licences.gz $(DESTDIR)$(PREFIX)/share/doc/layercast/third-party-licences.gz
	install -d $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(SYSTEMD_UNITS)
	install -m 644 $(PACKAGE)/man/*.1.gz $(DESTDIR)$(PREFIX)/share/man/man1
	install -D -m 644 $(PACKAGE)/completions/layercast.bash $(DESTDIR)$(PREFIX)/share/bash-completion/completions/layercast
	install -D -m 644 $(PACKAGE)/completions/_layercast $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_layercast
	install -D -m 644 $(PACKAGE)/completions/layercast.fish $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/layercast.fish
	@for unit in packaging/systemd/*; do \
	  sed 's,/usr/bin/layercast,$(PREFIX)/bin/layercast,' $$unit > $(DESTDIR)$(SYSTEMD_UNITS)/$${unit##*/}; done

uninstall: ## Remove what make install has installed below PREFIX
	rm -f $(DESTDIR)$(PREFIX)/bin/layercast $(DESTDIR)$(PREFIX)/share/doc/layercast/third-party-licences.gz $(DESTDIR)$(PREFIX)/share/man/man1/layercast{,-*}.1.gz \
	  $(DESTDIR)$(PREFIX)/share/bash-completion/completions/layercast \
	  $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_layercast \
	  $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/layercast.fish \
	  $(addprefix $(DESTDIR)$(SYSTEMD_UNITS)/,$(notdir $(wildcard packaging/systemd/*)))
