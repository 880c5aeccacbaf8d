import { readSettings } from "#infra/config.ts";
import { TOKEN } from "#infra/nats/names.ts";
import { withBus } from "./connect.ts";
import { print } from "./output.ts";
import { Problem } from "./problem.ts";

/** Creates the consumer with which a service of its own NATS account listens to one organization. */
export async function addListener(name: string, organization: string): Promise<void> {
  if (!TOKEN.test(name))
    throw new Problem(`${JSON.stringify(name)} cannot be a consumer`, "use letters, digits, hyphens and underscores");
  const { BUS_PREFIX } = readSettings(process.env);
  await withBus(({ feed }) => feed.addListener(name, organization));
  print(`The consumer ${name} of ${BUS_PREFIX.toUpperCase()}_EVENTS receives the events of ${organization}.`);
}
