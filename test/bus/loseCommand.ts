import { newId } from "#events/ids.ts";
import { openInspector } from "./streams.ts";

interface Deployment {
  addresses: { nats_url: string };
  settings: { BUS_PREFIX: string };
}

/** Publishes a command that no process can decode, so that it becomes a dead letter of the organization. */
export async function loseCommand({ addresses, settings }: Deployment, organization_id: string): Promise<void> {
  const { nc, names, close } = await openInspector({ url: addresses.nats_url, prefix: settings.BUS_PREFIX });
  nc.publish(names.command({ organization_id, stream: `thread-${newId()}` }), "{ no json");
  await nc.flush();
  await close();
}
