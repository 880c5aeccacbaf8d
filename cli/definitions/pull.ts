import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { print, escapeControls } from "../output.ts";
import { nameFiles } from "./folder.ts";
import type { Service, ServiceOptions } from "../service.ts";
import { findVersion, listRemote, readRemoteSource, type RemoteDefinition, withDefinitions } from "./remote.ts";

interface PullOptions extends ServiceOptions {
  force?: boolean;
}

/** The files of a folder by type and name of their definition. Prints which ones cannot be read as one. */
async function localFiles(folder: string): Promise<Map<string, string>> {
  const found = existsSync(folder) ? await nameFiles(folder) : [];
  for (const { type, name, problem } of found)
    if (problem !== undefined) print(`${escapeControls(problem)}: taken for the ${type} ${name}`);
  return new Map(found.map(({ type, name, file }) => [`${type} ${name}`, file]));
}

/** Chooses a definition's file, and notes it in `files`. Undefined if the file of that name holds another definition. */
export function chooseFile(
  folder: string,
  files: Map<string, string>,
  { type, name }: Pick<RemoteDefinition, "type" | "name">,
): string | undefined {
  const key = `${type} ${name}`;
  const known = files.get(key);
  if (known !== undefined) return known;
  const file = join(folder, `${name}.ts`);
  if ([...files.values()].includes(file)) return undefined;
  files.set(key, file);
  return file;
}

/** Writes one file; false if local edits were kept instead. */
async function pullOne(service: Service, remote: RemoteDefinition, file: string, isForced: boolean): Promise<boolean> {
  const { type, name, version, id } = remote;
  const source = await readRemoteSource(service, remote);
  if (!existsSync(file)) {
    writeFileSync(file, source);
    print(`wrote ${file}: ${type} ${name}, version ${version}`);
    return true;
  }
  const local = readFileSync(file, "utf8");
  if (local === source) {
    print(`unchanged ${file}: version ${version}`);
    return true;
  }
  const earlier = await findVersion(service, id, local);
  if (earlier === undefined && !isForced) {
    print(`kept ${file}: no version of ${type} ${name} has this text; push it, or overwrite it with --force`);
    return false;
  }
  writeFileSync(file, source);
  print(
    `wrote ${file}: ${type} ${name}, version ${version} over ${earlier === undefined ? "edits" : `version ${earlier}`}`,
  );
  return true;
}

/** Writes the service's definitions into a folder. Files with unsaved edits stay, and set exit code 1. */
export async function pull(folder: string, options: PullOptions): Promise<void> {
  await withDefinitions(options, async (service) => {
    const files = await localFiles(folder);
    mkdirSync(folder, { recursive: true });
    for (const remote of await listRemote(service)) {
      const file = chooseFile(folder, files, remote);
      if (!file)
        print(
          `skipped the ${remote.type} ${remote.name}: ${remote.name}.ts has another definition; give one a name of its own`,
        );
      if (!file || !(await pullOne(service, remote, file, options.force ?? false))) process.exitCode = 1;
    }
  });
}
