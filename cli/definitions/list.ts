import { print, printJson, formatTable } from "../output.ts";
import { readDefinitions } from "./folder.ts";
import type { ServiceOptions } from "../service.ts";
import { listRemote, readRemoteSource, withDefinitions } from "./remote.ts";

interface ListOptions extends ServiceOptions {
  json?: boolean;
}

interface Row {
  type: string;
  name: string;
  version: number | null;
  updated_at: string | null;
  file: string | null;
  state: "same" | "differs" | "not saved" | null;
}

/** Prints the definitions of the service, and compares them with those of a folder. */
export async function list(folder: string | undefined, options: ListOptions): Promise<void> {
  const local = folder === undefined ? [] : await readDefinitions(folder);
  await withDefinitions(options, async (service) => {
    const rows: Row[] = [];
    for (const remote of await listRemote(service)) {
      const { type, name, version, updated_at } = remote;
      const own = local.find((each) => each.type === type && each.name === name);
      const state = own && ((await readRemoteSource(service, remote)) === own.source ? "same" : "differs");
      rows.push({ type, name, version, updated_at, file: own?.file ?? null, state: state ?? null });
    }
    const isNew = ({ type, name }: { type: string; name: string }) =>
      rows.every((row) => row.type !== type || row.name !== name);
    for (const { type, name, file } of local.filter(isNew))
      rows.push({ type, name, version: null, updated_at: null, file, state: "not saved" });
    if (options.json) return printJson(rows);
    const lines = rows.map((row) => [
      row.type,
      row.name,
      String(row.version ?? "-"),
      row.updated_at ?? "-",
      row.file ?? "-",
      row.state ?? "-",
    ]);
    print(formatTable([["TYPE", "NAME", "VERSION", "UPDATED", "FILE", "STATE"], ...lines]));
  });
}
