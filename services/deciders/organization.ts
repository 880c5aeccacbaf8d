import { isDeepStrictEqual } from "node:util";
import type { Decider } from "#events/decider.ts";
import { streamName } from "#events/ids.ts";
import {
  OcrLanguagesSet,
  OrganizationCreated,
  ScriptedToolsSwitched,
  type OrganizationCommand,
  type OrganizationEvent,
} from "#events/organization.ts";
import { Rejection } from "#events/rejection.ts";
import type { UserCommand, UserEvent } from "#events/user.ts";
import { evolveMembers, decideMembers, type Members } from "./members.ts";

interface Active {
  status: "active";
  members: Members;
  scripted_tools: boolean;
  /** Null: those of the deployment. */
  ocr_languages: string[] | null;
}
type State = { status: "absent" } | Active;

const NEW: Active = { status: "active", members: {}, scripted_tools: true, ocr_languages: null };

export const organization: Decider<State, OrganizationCommand | UserCommand, OrganizationEvent | UserEvent> = {
  version: 4,
  initial: { status: "absent" },
  decide(command, state) {
    if (command.type === "CreateOrganization") {
      if (state.status === "active") throw new Rejection("organization_exists", "This organization exists already.");
      const { organization_id, name } = command.data;
      return [OrganizationCreated.of({ organization_id }, { name })];
    }
    if (state.status === "absent") throw new Rejection("organization_not_found", "There is no such organization.");
    if (command.type === "SetOcrLanguages") {
      const { languages } = command.data;
      return isDeepStrictEqual(languages, state.ocr_languages) ? [] : [OcrLanguagesSet.of({ languages })];
    }
    if (command.type !== "SwitchScriptedTools") return decideMembers(command, state.members);
    const { enabled } = command.data;
    return enabled === state.scripted_tools ? [] : [ScriptedToolsSwitched.of({ enabled })];
  },
  evolve(state, event) {
    if (event.type === "OrganizationCreated") return NEW;
    const active = state.status === "active" ? state : NEW;
    if (event.type === "ScriptedToolsSwitched") return { ...active, scripted_tools: event.data.enabled };
    if (event.type === "OcrLanguagesSet") return { ...active, ocr_languages: event.data.languages };
    return { ...active, members: evolveMembers(active.members, event) };
  },
  erases: (events) => ({
    things: events.flatMap((event) => (event.type === "UserRemoved" ? [streamName("user", event.data.user_id)] : [])),
  }),
};
