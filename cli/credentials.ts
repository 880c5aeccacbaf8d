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

/** Where this process is reached. With PORT=0 it is only known once it listens. */
export const baseUrl = ({ BASE_URL }: Where, listening: string): string =>
  new URL(BASE_URL).port === "0" ? listening : BASE_URL;

/** The environment of a tool: where it does not say how the service is reached, it is where the last start has left it. */
export const besideTheService = (env: NodeJS.ProcessEnv, where: Where): NodeJS.ProcessEnv => ({
  ...env,
  BASE_URL: env["BASE_URL"]?.trim() || keptCredentials(where)?.base_url,
});
