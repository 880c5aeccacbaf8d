import { join } from "node:path";
import type { Settings } from "#infra/config.ts";
import { readJson, writePrivate } from "#infra/embedded/files.ts";
import type { Credentials } from "./organization.ts";

type Where = Pick<Settings, "DATA_DIR" | "BASE_URL">;

export const credentialsFile = ({ DATA_DIR }: Where): string => join(DATA_DIR, "credentials.json");

/** The first organization's credentials; undefined before the first start. */
export const keptCredentials = (where: Where): Credentials | undefined => readJson<Credentials>(credentialsFile(where));

export const keepCredentials = (where: Where, credentials: Credentials): void =>
  writePrivate(credentialsFile(where), `${JSON.stringify(credentials, null, 2)}\n`);

/** Where the service is reached. With PORT=0 only the process that listens knows, and it has left it in the kept credentials. */
export function baseUrl(where: Where, listening: string | undefined = keptCredentials(where)?.base_url): string {
  return new URL(where.BASE_URL).port === "0" && listening ? listening : where.BASE_URL;
}
