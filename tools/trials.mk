# Hardships for whole programs; docs/trials.md has what they show. As root, since networks are emulated.
# TRIALS_OPTIONS is added to the options of a trial: `layercast-trials NAME --help`.

.PHONY: trials-program norm-file trials trial-hostile trial-soak trial-kills trial-forged trial-overhead trial-small trial-folder trial-links trial-crowd trial-share trial-amca trial-speed peers

TRIALS = $(TARGET)/release/layercast-trials
TRIAL = $(TRIALS) $(1) --out $(OUT)/trials $(TRIALS_OPTIONS)
NORM_FILE := $(abspath $(TARGET))/norm-file

trials-program: build
	$(CARGO) build $(TOOLS) --release --locked --package layercast-trials

trials: trial-hostile trial-soak trial-kills trial-forged trial-overhead trial-small trial-folder trial-links trial-crowd ## All trials of docs/trials.md (an hour, as root)

trial-hostile: trials-program ## A million hostile packets while a file is sent (4 minutes)
	$(call TRIAL,hostile)

trial-soak: trials-program ## A hundred million hostile packets at receiver and source, without a network (minutes)
	$(call TRIAL,soak)

trial-kills: trials-program ## 500 kills of sender or receiver at random moments (10 minutes)
	$(call TRIAL,kills)

trial-forged: trials-program ## Forged packets at 10 times the session's rate, against a group key (3 minutes)
	$(call TRIAL,forged)

trial-overhead: trials-program ## 100 MB at 5 and 30 % loss: what arrives until it is decoded (5 minutes)
	$(call TRIAL,losses) --name overhead --loss 0.05
	$(call TRIAL,losses) --name overhead --loss 0.3

trial-small: trials-program ## 10,000 small files without loss and at 5 % loss (6 minutes)
	$(call TRIAL,losses) --name small --files 10000 --length 4000 --vary --layers 4,8,16 --links 50 --loss 0
	$(call TRIAL,losses) --name small --files 10000 --length 4000 --vary --layers 4,8,16 --links 50 --loss 0.05

# A slower machine needs less: FOLDER='--files 50 --length 4000000 --layers 4,8,16,32,64 --within 900'.
FOLDER ?= --files 50 --length 100000000 --layers 4,8,16,32,64,128 --within 900 --progress 0.3
trial-folder: trials-program ## A folder of 5 GB to receivers of 5 and 500 Mbit/s at once; needs 15 GB of disk (20 minutes)
	$(call TRIAL,losses) --name folder $(FOLDER) --links 5,500 --loss 0 --rtt 10

# A slower machine needs less: LINKS='--to "200 Mbit/s" --length 100000000 --report-only'.
LINKS ?=
trial-links: trials-program ## Receivers behind 5, 20, 100 Mbit/s and an unshaped link, with Tide (40 minutes)
	$(call TRIAL,links) $(LINKS)

trial-crowd: trials-program ## 200 receivers, one very slow, one that comes and goes (6 minutes)
	$(call TRIAL,crowd) $(CROWD)

# Web-like loads: SHARE='--cases web,web-tcp'; leave latency: SHARE='--bottlenecks tbf-leave-20,tbf-leave-2000 --tcp cubic'.
SHARE ?=
trial-share: trials-program ## One bottleneck of 20 Mbit/s, shared with the kernel's TCP: cubic, reno, bbr; tbf, drop-tail, CoDel, FQ-CoDel (100 minutes)
	$(call TRIAL,share) $(SHARE)

trial-amca: trials-program ## AMCA over relays that take part, in the networks of its report, against their simulation (100 minutes)
	$(call TRIAL,amca)

norm-file:
	@if [ -f /usr/include/normApi.h ] && command -v g++ >/dev/null 2>&1; then \
	  g++ -O2 -Wall -o $(NORM_FILE) tools/trials/norm/norm_file.cpp -lnorm; \
	else echo "NORM is skipped: on Debian, apt-get install g++ libnorm-dev (and uftp, udpcast)" >&2; fi

# Files are in memory, where there is such a file system: a disk would be what is measured.
trial-speed: trials-program norm-file ## 1 GB to one receiver by us, UFTP, NORM and udpcast, at losses of 0, 1 and 5 % (30 minutes)
	TMPDIR=$$([ -d /dev/shm ] && echo /dev/shm || echo /tmp) $(call TRIAL,speed) --norm $(NORM_FILE) --table $(OUT)/trials/speed.md

peers: trials-program norm-file ## The same faults for UFTP, NORM and udpcast, in the same networks (15 minutes); those that are missing are skipped
	$(call TRIAL,peers) --norm $(NORM_FILE) --table $(OUT)/trials/peers.md
