import { join } from "node:path";
import type { Settings } from "#infra/config.ts";
import { readJson, writePrivate } from "#infra/privateFiles.ts";
import type { Credentials } from "./organization.ts";

type CredentialSettings = Pick<Settings, "DATA_DIR" | "BASE_URL">;

export const credentialsFile = ({ DATA_DIR }: Pick<CredentialSettings, "DATA_DIR">): string =>
  join(DATA_DIR, "credentials.json");

/** The first organization's credentials; undefined before the first start. */
export const loadCredentials = (settings: Pick<CredentialSettings, "DATA_DIR">): Credentials | undefined =>
  readJson<Credentials>(credentialsFile(settings));

export const saveCredentials = (settings: CredentialSettings, credentials: Credentials): void =>
  writePrivate(credentialsFile(settings), `${JSON.stringify(credentials, null, 2)}\n`);

/** The URL of this process. With PORT=0 it is known only once the process listens. */
export const baseUrl = ({ BASE_URL }: CredentialSettings, listening: string): string =>
  new URL(BASE_URL).port === "0" ? listening : BASE_URL;

/** The environment. If BASE_URL is not set, adds the URL at which the service last started. */
export const withServiceUrl = (env: NodeJS.ProcessEnv, settings: CredentialSettings): NodeJS.ProcessEnv => ({
  ...env,
  BASE_URL: env["BASE_URL"]?.trim() || loadCredentials(settings)?.base_url,
});
