import { readFile } from "node:fs/promises";
import { startOwnServer } from "./server.ts";

const passwords = {
  NATS_PASSWORD: "all",
  NATS_HTTP_PASSWORD: "h",
  NATS_SERVICES_PASSWORD: "s",
  NATS_PROJECTIONS_PASSWORD: "p",
  NATS_LISTENER_PASSWORD: "l",
};

/** The file, with a second listener for another organization. */
async function usersConfig({ mine, theirs }: Record<"mine" | "theirs", string>): Promise<string> {
  const text = await readFile("deploy/nats-users.conf", "utf8");
  const listener = /^ {4}\{\n {6}user: "listener".*?^ {4}\}\n/ms.exec(text)![0];
  const second = listener
    .replace('"listener"', '"second"')
    .replaceAll("listener", "second")
    .replace("ORGANIZATION", theirs);
  return text.replace(listener, listener.replace("ORGANIZATION", mine) + second);
}

/** A server with the users of deploy/nats-users.conf: `listener` reads the first organization, `second` the other. */
export const startServerWithUsers = async (organizations: Record<"mine" | "theirs", string>) =>
  startOwnServer({ config: await usersConfig(organizations), env: passwords });
