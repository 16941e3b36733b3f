/* A file by NORM (RFC 5740), on the library libnorm: `norm_file send FILE ...` and `norm_file receive DIR ...`.
 *
 *   norm_file send FILE GROUP PORT INTERFACE BITS_PER_SECOND
 *   norm_file receive DIR GROUP PORT INTERFACE
 *
 * The header is C++ where it should be C, so this is.
 *
 * The sender goes on until it is ended, and offers the file again whenever it has been flushed, so that late receivers
 * get it. A receiver ends with the first object that the library reports as completed, and gives it its name. */
#include <normApi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NAME_MAX_BYTES = 255, BUFFER = 8 * 1024 * 1024, SEGMENT = 1400, BLOCK = 64, PARITY = 32, TTL = 8 };

static int fail(const char *what) {
    fprintf(stderr, "norm_file: %s failed\n", what);
    return 1;
}

static int send_file(NormInstanceHandle norm, NormSessionHandle session, const char *path, double rate) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    NormSetTxRate(session, rate);
    NormSetGrttEstimate(session, 0.1);
    if (!NormStartSender(session, (NormSessionId)getpid(), BUFFER, SEGMENT, BLOCK, PARITY, 0)) return fail("starting the sender");
    NormObjectHandle file = NormFileEnqueue(session, path, name, (unsigned)strlen(name));
    if (file == NORM_OBJECT_INVALID) return fail("queueing the file");
    NormObjectRetain(file);
    NormEvent event;
    while (NormGetNextEvent(norm, &event, true)) {
        if (event.type == NORM_TX_FLUSH_COMPLETED) {
            printf("flushed: offering the file again\n");
            if (!NormRequeueObject(session, file)) return fail("queueing the file again");
        } else if (event.type == NORM_TX_OBJECT_SENT) {
            printf("sent\n");
        } else if (event.type == NORM_TX_OBJECT_PURGED) {
            printf("purged\n");
        }
        fflush(stdout);
    }
    return 0;
}

static int receive_file(NormInstanceHandle norm, NormSessionHandle session, const char *folder) {
    if (!NormSetCacheDirectory(norm, folder)) return fail("using the directory");
    if (!NormStartReceiver(session, BUFFER)) return fail("starting the receiver");
    NormEvent event;
    while (NormGetNextEvent(norm, &event, true)) {
        if (event.type == NORM_REMOTE_SENDER_NEW) printf("a new sender\n");
        if (event.type == NORM_REMOTE_SENDER_RESET) printf("the sender was reset\n");
        if (event.type == NORM_REMOTE_SENDER_INACTIVE) printf("the sender is inactive\n");
        if (event.type == NORM_RX_OBJECT_ABORTED) printf("aborted\n");
        if (event.type == NORM_RX_OBJECT_COMPLETED) {
            char name[NAME_MAX_BYTES + 1] = {0}, path[4096];
            NormObjectGetInfo(event.object, name, NAME_MAX_BYTES);
            snprintf(path, sizeof path, "%s/%s", folder, strchr(name, '/') || !*name ? "file" : name);
            if (!NormFileRename(event.object, path)) return fail("giving the file its name");
            printf("completed\n");
            return 0;
        }
        fflush(stdout);
    }
    return 0;
}

int main(int count, char **words) {
    int sends = count == 7 && !strcmp(words[1], "send");
    if (!sends && !(count == 6 && !strcmp(words[1], "receive"))) {
        fprintf(stderr, "norm_file send FILE GROUP PORT INTERFACE BITS_PER_SECOND | receive DIR GROUP PORT INTERFACE\n");
        return 2;
    }
    NormInstanceHandle norm = NormCreateInstance(false);
    NormSessionHandle session =
        NormCreateSession(norm, words[3], (UINT16)atoi(words[4]), sends ? 1 : NORM_NODE_ANY);
    if (session == NORM_SESSION_INVALID) return fail("making a session");
    NormSetMulticastInterface(session, words[5]);
    NormSetTTL(session, TTL);
    int status = sends ? send_file(norm, session, words[2], atof(words[6])) : receive_file(norm, session, words[2]);
    NormDestroySession(session);
    NormDestroyInstance(norm);
    return status;
}
