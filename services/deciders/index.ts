import type { Decider } from "#events/decider.ts";
import { agent } from "./agent.ts";
import { alias } from "./alias.ts";
import { budget } from "./budget.ts";
import { collection } from "./collection.ts";
import { definition } from "./definition.ts";
import { document } from "./document.ts";
import { erasure } from "./erasure.ts";
import { extraction } from "./extraction.ts";
import { file } from "./file.ts";
import { group } from "./group.ts";
import { hold } from "./hold.ts";
import { key } from "./key.ts";
import { message } from "./message.ts";
import { organization } from "./organization.ts";
import { price } from "./price.ts";
import { project } from "./project.ts";
import { provider } from "./provider.ts";
import { retention } from "./retention.ts";
import { run } from "./run.ts";
import { secret } from "./secret.ts";
import { session } from "./session.ts";
import { source } from "./source.ts";
import { thread } from "./thread.ts";
import { trigger } from "./trigger.ts";
import { workflow } from "./workflow.ts";

/** The decider of each aggregate. */
export const deciders: Record<string, Decider<any, any, any>> = {
  agent,
  alias,
  budget,
  collection,
  definition,
  document,
  erasure,
  extraction,
  file,
  group,
  hold,
  key,
  message,
  organization,
  price,
  project,
  provider,
  retention,
  run,
  secret,
  session,
  source,
  thread,
  trigger,
  workflow,
};
