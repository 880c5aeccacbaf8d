import type { BusContext } from "./context.ts";

/** The part of the frame stream that an organization publishes between two looks at the stream. */
const CHUNK = 1 / 64;
/** The part that may be filled. The rest is room for what arrives while frames are purged. */
const FULL = 7 / 8;
/** Newest chunks that an organization keeps in any case. */
const MIN_CHUNKS = 2;
/** What a frame takes in the stream beside its content: its subject, its number and its checksum. */
const FRAME_OVERHEAD = 120;

interface StreamState {
  bytes: number;
  first_seq: number;
  last_seq: number;
}

interface Purge {
  organization: string;
  /** The first sequence that stays. */
  seq: number;
}

/**
 * Shares the frame stream between organizations. When it is nearly full, the organization with most of it loses its oldest frames,
 * before the server drops the oldest ones of everybody. Each process counts what it publishes itself.
 */
export function createFrameShares(maxBytes: number) {
  /** Bytes since an organization's last chunk. */
  const published = new Map<string, number>();
  /** The last sequences of each organization's chunks, oldest first. */
  const chunks = new Map<string, number[]>();

  /** Forgets chunks that are no longer in the stream, which may have been created again. */
  function forgetDropped({ first_seq, last_seq }: StreamState): void {
    for (const [organization, ends] of chunks) {
      const retained = ends.filter((end) => end >= first_seq && end <= last_seq);
      if (retained.length > 0) chunks.set(organization, retained);
      else chunks.delete(organization);
    }
  }

  return {
    /** Counts a frame. Returns whether a chunk of the organization has ended. */
    count(organization: string, bytes: number): boolean {
      const sum = (published.get(organization) ?? 0) + bytes + FRAME_OVERHEAD;
      const isWhole = sum >= maxBytes * CHUNK;
      if (isWhole) published.delete(organization);
      else published.set(organization, sum);
      return isWhole;
    },
    /** Ends a chunk of an organization. Returns what to purge. */
    endChunk(organization: string, state: StreamState): Purge | undefined {
      chunks.set(organization, [...(chunks.get(organization) ?? []), state.last_seq]);
      forgetDropped(state);
      if (state.bytes < maxBytes * FULL) return undefined;
      const [largest] = [...chunks].toSorted(([, a], [, b]) => b.length - a.length);
      if (!largest || largest[1].length <= MIN_CHUNKS) return undefined;
      return { organization: largest[0], seq: largest[1].shift()! + 1 };
    },
  };
}

/** Returns a function that counts the bytes of each frame that is sent to the stream. */
export function keepShares({ connection, streams: { jsm }, names, limits }: BusContext) {
  const shares = createFrameShares(limits.frames_max_bytes);
  const stream = names.streams.frames;
  async function endChunk(organization: string): Promise<void> {
    const { state } = await jsm.streams.info(stream);
    const purge = shares.endChunk(organization, state);
    if (purge) await jsm.streams.purge(stream, { filter: names.framesOf(purge.organization), seq: purge.seq });
  }
  return (organization: string, bytes: number): void => {
    if (bytes === 0 || !shares.count(organization, bytes)) return;
    connection
      .during(endChunk(organization))
      .catch((err) => connection.log.warn({ err }, "bus: frames of the largest organization not purged"));
  };
}
