import { exportedCommands, exportedEvents, type CommandDefinition, type EventDefinition } from "./define.ts";
import * as agent from "./agent.ts";
import * as alias from "./alias.ts";
import * as approvalLinks from "./approvalLinks.ts";
import * as approvalPeople from "./approvalPeople.ts";
import * as budget from "./budget.ts";
import * as claim from "./claim.ts";
import * as collection from "./collection.ts";
import * as definition from "./definition.ts";
import * as document from "./document.ts";
import * as erasure from "./erasure.ts";
import * as extraction from "./extraction.ts";
import * as file from "./file.ts";
import * as group from "./group.ts";
import * as hold from "./hold.ts";
import * as key from "./key.ts";
import * as message from "./message.ts";
import * as organization from "./organization.ts";
import * as price from "./price.ts";
import * as project from "./project.ts";
import * as provider from "./provider.ts";
import * as retention from "./retention.ts";
import * as run from "./run.ts";
import * as runLinks from "./runLinks.ts";
import * as schedule from "./schedule.ts";
import * as secret from "./secret.ts";
import * as session from "./session.ts";
import * as source from "./source.ts";
import * as thread from "./thread.ts";
import * as threadApprovals from "./threadApprovals.ts";
import * as trigger from "./trigger.ts";
import * as user from "./user.ts";
import * as workflow from "./workflow.ts";

/* index.test.ts fails when a file of this folder defines events or commands and is missing here. */
const MODULES = [
  agent,
  alias,
  approvalLinks,
  approvalPeople,
  budget,
  claim,
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
  runLinks,
  schedule,
  secret,
  session,
  source,
  thread,
  threadApprovals,
  trigger,
  user,
  workflow,
];

/** Every event that can be in the log, by type. */
export const eventDefinitions: ReadonlyMap<string, EventDefinition> = new Map(
  MODULES.flatMap(exportedEvents).map((definition) => [definition.type, definition]),
);

/** Every command that can be sent, by type. */
export const commandDefinitions: ReadonlyMap<string, CommandDefinition> = new Map(
  MODULES.flatMap(exportedCommands).map((definition) => [definition.type, definition]),
);
