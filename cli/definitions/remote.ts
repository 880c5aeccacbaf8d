import { withService, type Service, type ServiceOptions } from "../service.ts";

/** Work on the definitions of a service. Throws CliError. */
export const withDefinitions = <T>(options: ServiceOptions, work: (service: Service) => Promise<T>): Promise<T> =>
  withService(options, { action: "save definitions", roles: "a builder, an admin or an owner" }, work);

export interface RemoteDefinition {
  id: string;
  type: "tool" | "workflow";
  name: string;
  version: number;
  updated_at: string;
}

const PAGE = 200;

/** Every definition of the organization. */
export async function listRemote({ call }: Service): Promise<RemoteDefinition[]> {
  const found: RemoteDefinition[] = [];
  for (;;) {
    const { data, total } = await call("GET", `/definitions?limit=${PAGE}&offset=${found.length}`);
    found.push(...data);
    if (data.length === 0 || found.length >= total) return found;
  }
}

export const readRemoteSource = async ({ call }: Service, { id }: { id: string }): Promise<string> =>
  (await call("GET", `/definitions/${id}`)).source;

/** Maximum versions searched for a text. */
const MAX_VERSIONS = 100;

/** The newest version with this text; undefined if none of the newest hundred has it. */
export async function findVersion({ call }: Service, id: string, source: string): Promise<number | undefined> {
  const { data } = await call("GET", `/definitions/${id}/versions?limit=${MAX_VERSIONS}`);
  return (data as { version: number; source: string }[]).find((version) => version.source === source)?.version;
}
