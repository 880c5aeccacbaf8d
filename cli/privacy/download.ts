import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { CliError } from "../cliError.ts";
import type { Service } from "../service.ts";
import { requireNewFile, writeWholeFile } from "../wholeFile.ts";

/** Maximum length of the last line of an export or a certificate, which only has counts. */
const MAX_LAST_LINE = 4_096;

function parseEnd<End>(line: string): End | undefined {
  try {
    const end = JSON.parse(line);
    return end.type === "end" ? end : undefined;
  } catch {
    return undefined;
  }
}

/** The chunks of the answer. Throws CliError if it breaks off. */
async function* readAnswer(bytes: Readable): AsyncGenerator<Buffer> {
  try {
    yield* bytes as AsyncIterable<Buffer>;
  } catch (cause) {
    throw new CliError(`The answer broke off (${(cause as Error).message})`, "run this again", { cause });
  }
}

/** Passes the bytes through. `onEnd` gets the last line. Throws CliError if the answer has no last line. */
async function* passOn<End>(bytes: Readable, onEnd: (end: End) => void): AsyncGenerator<Buffer> {
  let last = Buffer.alloc(0);
  for await (const chunk of readAnswer(bytes)) {
    last = Buffer.concat([last, chunk]).subarray(-MAX_LAST_LINE);
    yield chunk;
  }
  const end = parseEnd<End>(last.toString().trimEnd().split("\n").at(-1)!);
  if (!end) throw new CliError("The answer is incomplete: it has no last line", "run this again");
  onEnd(end);
}

/**
 * Writes the service's JSON lines to a new file or to stdout. Returns the last line, which has the type `end`. Throws CliError if it
 * is missing. Does not replace an existing file, and leaves none if it fails.
 */
export async function download<End>(
  service: Pick<Service, "download">,
  path: string,
  out: string | undefined,
  body?: object,
): Promise<End> {
  if (out !== undefined) requireNewFile(out);
  let end: End;
  const lines = passOn<End>(await service.download(path, body), (line) => (end = line));
  if (out === undefined) await pipeline(lines, process.stdout, { end: false });
  else await writeWholeFile(out, lines);
  return end!;
}
