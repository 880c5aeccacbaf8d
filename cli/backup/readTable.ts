import { createReadStream } from "node:fs";
import { createGunzip } from "node:zlib";
import { explainError } from "../explainError.ts";
import { CliError } from "../cliError.ts";
import { tableFile } from "./format.ts";

async function* readLines(path: string): AsyncGenerator<string> {
  const [file, text] = [createReadStream(path), createGunzip()];
  file.once("error", (error) => text.destroy(error));
  let rest = "";
  for await (const chunk of file.pipe(text).setEncoding("utf8")) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}

/** The lines of a table in a backup. Throws CliError on a file that is missing, damaged or cut off. */
export async function* readTable(folder: string, table: string): AsyncGenerator<string> {
  const path = tableFile(folder, table);
  try {
    yield* readLines(path);
  } catch (cause) {
    const next = "restore another backup or another copy of it";
    throw new CliError(`${path} cannot be read to its end (${explainError(cause)})`, next, { cause });
  }
}
