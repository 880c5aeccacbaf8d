import type { Decider } from "#events/decider.ts";
import { file } from "./file.ts";
import { key } from "./key.ts";
import { organization } from "./organization.ts";
import { provider } from "./provider.ts";
import { session } from "./session.ts";
import { thread } from "./thread.ts";
import { user } from "./user.ts";

/** Who decides, by aggregate. */
export const deciders: Record<string, Decider<any, any, any>> = {
  file,
  key,
  organization,
  provider,
  session,
  thread,
  user,
};
