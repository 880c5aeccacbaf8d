import { createWriteStream } from "node:fs";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CliError } from "../cliError.ts";
import type { Service } from "../service.ts";

/** Maximum length of the last line of an export or a certificate, which only has counts. */
const MAX_LAST_LINE = 4_096;

/** Passes the bytes through. `onEnd` gets the last line. */
async function* passOn(bytes: Readable, onEnd: (line: string) => void): AsyncGenerator<Buffer> {
  let last = Buffer.alloc(0);
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    last = Buffer.concat([last, chunk]).subarray(-MAX_LAST_LINE);
    yield chunk;
  }
  onEnd(last.toString().trimEnd().split("\n").at(-1)!);
}

function parseEnd<End>(line: string): End | undefined {
  try {
    const end = JSON.parse(line);
    return end.type === "end" ? end : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Writes the service's JSON lines to a new file or to stdout. Returns the last line, which has the type `end`. Throws CliError if it
 * is missing. Does not replace an existing file, which may be the only copy of a certificate.
 */
export async function download<End>(service: Service, path: string, out: string | undefined): Promise<End> {
  let last = "";
  const lines = passOn(await service.download(path), (line) => (last = line));
  try {
    if (out === undefined) await pipeline(lines, process.stdout, { end: false });
    else await pipeline(lines, createWriteStream(out, { flags: "wx", mode: 0o600, flush: true }));
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "EEXIST") throw new CliError(`${out} exists already`, "name a new file", { cause });
    throw new CliError(`The answer broke off (${message})`, "run this again", { cause });
  }
  const end = parseEnd<End>(last);
  if (!end) throw new CliError(`${out ?? "The answer"} is not whole: it has no last line`, "run this again");
  return end;
}
