import { isUtf8 } from "node:buffer";
import { createJsonScan } from "#events/jsonLimits.ts";
import { createPause } from "#events/slices.ts";
import { UNCOUNTED_SIZE, type AnswerMemory } from "#services/turns/model.ts";
import type { IncomingResponse } from "../send.ts";

/** The body of an answer is not UTF-8, or one piece of it would block the event loop too long. */
export class InvalidBody extends Error {
  override name = "InvalidBody";
}

/** Maximum bytes of a streamed event, and of an answer that is not streamed: an 8 MiB text with every character escaped by a backslash. */
const MAX_PIECE = 16 * 1024 * 1024;

/** Bytes of a UTF-8 character that starts with this byte, which is at least 0xc0. */
function lengthOfCharacter(first: number): number {
  if (first >= 0xf0) return 4;
  return first >= 0xe0 ? 3 : 2;
}

/** Number of bytes at the end that belong to a character continued in the next chunk. */
function incompleteBytes(chunk: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, chunk.length); back += 1) {
    const byte = chunk[chunk.length - back]!;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) return back < lengthOfCharacter(byte) ? back : 0;
  }
  return 0;
}

const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Throws InvalidBody for JSON whose parsing would block the event loop, and whatever `share` throws. */
function createJsonCheck(share: AnswerMemory | undefined) {
  const scan = createJsonScan();
  let size = 0;
  return {
    add(bytes: Uint8Array): void {
      size += bytes.length;
      if (size > MAX_PIECE) throw new InvalidBody("too large");
      if (size > UNCOUNTED_SIZE) share?.holdPiece(size);
      const excess = scan.scan(bytes);
      if (excess) throw new InvalidBody(excess);
    },
    endLine: scan.endLine,
    reset(): void {
      scan.reset();
      if (size > UNCOUNTED_SIZE) share?.holdPiece(0);
      size = 0;
    },
  };
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
/** The beginning of a line that carries part of the event's JSON; other lines are comments and names. */
const DATA = Buffer.from("data:");
/** Whether these line ends (the last four bytes) end an event for every reader. */
const isEventEnd = (ends: number): boolean =>
  (ends & 0xffff) === 0x0a0a || (ends & 0xffff) === 0x0d0d || ends === 0x0d0a0d0a;

/** Like createJsonCheck, for each event of a stream: readers join its lines. */
function createEventCheck(share: AnswerMemory | undefined) {
  const json = createJsonCheck(share);
  /** The current run of line ends, its last four bytes as one number. */
  let ends = 0;
  /** Number of bytes of DATA that the line begins with; -1 if it begins differently. */
  let matched = 0;
  const addPart = (part: Uint8Array): void => {
    for (let at = 0; at < part.length && matched >= 0 && matched < DATA.length; at++)
      matched = part[at] === DATA[matched] ? matched + 1 : -1;
    json.add(part);
  };
  return {
    reset: json.reset,
    add(bytes: Uint8Array): void {
      let newline = bytes.indexOf(NEWLINE);
      let carriageReturn = bytes.indexOf(RETURN);
      for (let at = 0; at < bytes.length; ) {
        if (newline !== -1 && newline < at) newline = bytes.indexOf(NEWLINE, at);
        if (carriageReturn !== -1 && carriageReturn < at) carriageReturn = bytes.indexOf(RETURN, at);
        const isReturn = carriageReturn !== -1 && (newline === -1 || carriageReturn < newline);
        const end = isReturn ? carriageReturn : newline;
        if (end !== at) {
          ends = 0;
          addPart(bytes.subarray(at, end === -1 ? bytes.length : end));
        }
        if (end === -1) return;
        json.endLine(matched !== DATA.length);
        matched = 0;
        ends = (ends << 8) | (isReturn ? RETURN : NEWLINE);
        if (isEventEnd(ends)) json.reset();
        at = end + 1;
      }
    },
  };
}

/** How the reader parses the body: as Server-Sent Events, or as one text. */
type BodyForm = "events" | "whole";

/**
 * Passes bytes through. Throws InvalidBody for invalid UTF-8 and for a piece that is too expensive, before a reader buffers,
 * guesses or parses it.
 */
function createBodyCheck(reading: BodyForm, share: AnswerMemory | undefined) {
  let carried = NO_BYTES;
  const pieces = reading === "events" ? createEventCheck(share) : createJsonCheck(share);
  return {
    pass(chunk: Uint8Array): Uint8Array {
      const bytes = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
      const complete = bytes.subarray(0, bytes.length - incompleteBytes(bytes));
      if (!isUtf8(complete)) throw new InvalidBody("invalid UTF-8");
      carried = bytes.subarray(complete.length);
      pieces.add(chunk);
      return complete;
    },
    end(): void {
      pieces.reset();
      if (carried.length > 0) throw new InvalidBody("invalid UTF-8");
    },
  };
}

/** Limits for what may follow the end mark of a stream: normally only the end of the transfer. */
const DRAIN_LIMIT = { bytes: 16 * 1024, ms: 1_000 };

/** Reads the rest of a response so that its connection can be reused. A longer rest is cancelled. */
async function drain({ chunks, cancel }: IncomingResponse): Promise<void> {
  const timer = setTimeout(cancel, DRAIN_LIMIT.ms);
  try {
    for (let left = DRAIN_LIMIT.bytes; left > 0; ) {
      const read = await chunks.next();
      if (read.done) return;
      left -= read.value.length;
    }
    cancel();
  } catch {
    cancel();
  } finally {
    clearTimeout(timer);
  }
}

/** The checked bytes of an answer. If the reader stops early, the connection is drained or cancelled. */
export function checkedChunks(
  incoming: IncomingResponse,
  reading: BodyForm,
  share?: AnswerMemory,
): AsyncIterableIterator<Uint8Array> {
  const check = createBodyCheck(reading, share);
  const pause = createPause();
  let isDraining = false;
  let isFirst = true;
  const chunks: AsyncIterableIterator<Uint8Array> = {
    async next() {
      // a body may be long without completing a piece
      if (!isFirst) await pause();
      isFirst = false;
      const read = await incoming.chunks.next();
      if (!read.done) return { done: false, value: check.pass(read.value) };
      check.end();
      return read;
    },
    async return() {
      if (!isDraining) void drain(incoming);
      isDraining = true;
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]: () => chunks,
  };
  return chunks;
}
