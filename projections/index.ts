import { agents } from "./agents/project.ts";
import { aliases } from "./aliases/project.ts";
import { budgets } from "./budgets/project.ts";
import { collections } from "./collections/project.ts";
import { definitions } from "./definitions/project.ts";
import { documents } from "./documents/project.ts";
import { erasures } from "./erasures/project.ts";
import { extractions } from "./extractions/project.ts";
import { files } from "./files/project.ts";
import { groups } from "./groups/project.ts";
import { holds } from "./holds/project.ts";
import { keys } from "./keys/project.ts";
import { organizations } from "./organizations/project.ts";
import { prices } from "./prices/project.ts";
import type { Projection } from "./projection.ts";
import { projects } from "./projects/project.ts";
import { providers } from "./providers/project.ts";
import { retention } from "./retention/project.ts";
import { runs } from "./runs/project.ts";
import { schedules } from "./schedules/project.ts";
import { secrets } from "./secrets/project.ts";
import { sessions } from "./sessions/project.ts";
import { sources } from "./sources/project.ts";
import { triggers } from "./triggers/project.ts";
import { turns } from "./turns/project.ts";
import { usage } from "./usage/project.ts";
import { users } from "./users/project.ts";
import { workflows } from "./workflows/project.ts";

/** Every read model. */
export const projections: Projection[] = [
  organizations,
  users,
  sessions,
  keys,
  providers,
  prices,
  aliases,
  budgets,
  files,
  turns,
  usage,
  collections,
  documents,
  sources,
  extractions,
  agents,
  projects,
  groups,
  definitions,
  secrets,
  erasures,
  retention,
  holds,
  workflows,
  triggers,
  schedules,
  runs,
];
