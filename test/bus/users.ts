import { readFile } from "node:fs/promises";
import { startOwnServer } from "./server.ts";

const passwords = {
  NATS_PASSWORD: "all",
  NATS_HTTP_PASSWORD: "h",
  NATS_SERVICES_PASSWORD: "s",
  NATS_PROJECTIONS_PASSWORD: "p",
  NATS_LISTENER_PASSWORD: "l",
};

const LISTENER = /^ {2}LISTENER: \{.*?^ {2}\}\n/ms;
const EXPORTS = /^ {6}\{ service: .*accounts: \[LISTENER\] \}\n/gm;
const asSecond = (block: string): string => block.replaceAll("listener", "second").replaceAll("LISTENER", "SECOND");

/** The file, with a second listener. */
async function usersConfig(): Promise<string> {
  const text = await readFile("deploy/nats-users.conf", "utf8");
  const exported = text.match(EXPORTS)!.join("");
  const withExports = text.replace(exported, () => exported + asSecond(exported));
  // the password stays the same
  const second = asSecond(LISTENER.exec(text)![0]).replace("$NATS_SECOND_PASSWORD", "$NATS_LISTENER_PASSWORD");
  return withExports.replace(LISTENER, (block) => block + second);
}

/** A server with the users of deploy/nats-users.conf, and a second listener. */
export const startServerWithUsers = async () => startOwnServer({ config: await usersConfig(), env: passwords });
