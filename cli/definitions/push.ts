import { print, escapeControls } from "../output.ts";
import { describeChange, readDefinitions, type LocalDefinition } from "./folder.ts";
import type { Service, ServiceOptions } from "../service.ts";
import { findVersion, listRemote, readRemoteSource, type RemoteDefinition, withDefinitions } from "./remote.ts";

interface PushOptions extends ServiceOptions {
  dryRun?: boolean;
}

async function create(
  service: Service,
  { file, type, name, source }: LocalDefinition,
  isDry: boolean,
): Promise<string> {
  if (isDry) return `would create ${type} ${name} of ${file}`;
  await service.call("POST", "/definitions", { type, name, source });
  return `created ${type} ${name}: version 1`;
}

async function save(
  service: Service,
  local: LocalDefinition,
  remote: RemoteDefinition,
  isDry: boolean,
): Promise<string> {
  const { type, name, source } = local;
  const before = await readRemoteSource(service, remote);
  if (before === source) return `unchanged ${type} ${name}: version ${remote.version}`;
  const change = describeChange(before, source);
  const earlier = await findVersion(service, remote.id, source);
  const again = earlier === undefined ? "" : `, the text of version ${earlier} again`;
  if (isDry) return `would save ${type} ${name} over version ${remote.version} (${change}${again})`;
  const { version, notice } = await service.call("PATCH", `/definitions/${remote.id}`, { source });
  return `saved ${type} ${name}: version ${version} (${change}${again})${notice ? `\n  ${notice}` : ""}`;
}

/** Saves the definitions of a folder that differ from the service's. Saves none if one of them is invalid. */
export async function push(path: string, options: PushOptions): Promise<void> {
  const definitions = await readDefinitions(path);
  await withDefinitions(options, async (service) => {
    const remote = await listRemote(service);
    for (const local of definitions) {
      for (const { line, column, message } of local.lint)
        print(`warning ${local.file}:${line}:${column}: ${escapeControls(message)}`);
      const known = remote.find(({ type, name }) => type === local.type && name === local.name);
      const isDry = options.dryRun ?? false;
      print(await (known ? save(service, local, known, isDry) : create(service, local, isDry)));
    }
  });
}
