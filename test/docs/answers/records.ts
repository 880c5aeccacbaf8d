import { loseCommand } from "../../bus/loseCommand.ts";
import type { Desk } from "./desk.ts";

/** The log, holds, retention, erasures, and the health of the service. */
export async function askForRecords({ ask, askUntil, platform, credentials }: Desk, person: string): Promise<void> {
  await ask("get /api/events", { query: "?limit=5" });
  await ask("get /api/events/histogram");
  await ask("get /api/events/check");
  await ask("get /api/changes", { query: "?limit=5" });
  const path = ["organization"];
  await ask("post /api/retention/{subject}/preview", { path });
  await ask("put /api/retention/{subject}", { path });
  await ask("get /api/retention");
  const subject = `person:${person}`;
  const hold = await ask("post /api/holds", { body: { subject } });
  await ask("get /api/holds");
  await ask("post /api/exports");
  await ask("post /api/erasures/preview", { body: { owner: subject } });
  await ask("delete /api/holds/{id}", { path: [hold.id] });
  const { id } = await ask("post /api/erasures", { body: { owner: subject } });
  await askUntil("get /api/erasures/{id}", { path: [id] }, ({ status }) => status === "completed");
  await ask("get /api/erasures");
  await loseCommand(platform.resources, credentials.organization_id);
  await askUntil("get /api/dead-letters", {}, ({ data }) => data.length > 0);
  await ask("get /api/health");
}
