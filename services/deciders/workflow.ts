import { isDeepStrictEqual } from "node:util";
import type { Decider } from "#events/decider.ts";
import { Rejection } from "#events/rejection.ts";
import {
  WorkflowChanged,
  WorkflowRegistered,
  type Envelope,
  type WorkflowCommand,
  type WorkflowEvent,
} from "#events/workflow.ts";
import { changeEnvelope, DEFAULT_ENVELOPE } from "./envelope.ts";

interface RegisteredWorkflow {
  definition_id: string;
  definition_version: number;
  project_id: string | null;
  enabled: boolean;
  envelope: Envelope;
  /** Counts the envelopes of the workflow from 1. */
  envelope_version: number;
}

/** The whole envelope is state, so a permission check that reads the stream head sees the current rules. */
export type WorkflowState = { status: "absent" } | ({ status: "registered" } & RegisteredWorkflow);

const definedFields = <T extends object>(fields: T): Partial<T> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;

export const workflow: Decider<WorkflowState, WorkflowCommand, WorkflowEvent> = {
  version: 1,
  initial: { status: "absent" },
  decide(command, state) {
    if (command.type === "RegisterWorkflow") {
      if (state.status !== "absent") throw new Rejection("workflow_exists", "This workflow exists already.");
      const { name, description, envelope: differences, ...settings } = command.data;
      const envelope = changeEnvelope(DEFAULT_ENVELOPE, differences);
      return [WorkflowRegistered.of({ ...settings, envelope }, { name, description })];
    }
    if (state.status !== "registered") throw new Rejection("workflow_not_found", "No workflow has this id.");
    const { workflow_id, name, description, envelope: change, ...rest } = command.data;
    const personal = definedFields({ name, description });
    const before: Partial<RegisteredWorkflow> = state;
    const envelope = change && changeEnvelope(state.envelope, change);
    const changes = Object.fromEntries(
      Object.entries(definedFields({ ...rest, envelope })).filter(
        ([field, value]) => !isDeepStrictEqual(value, before[field as keyof RegisteredWorkflow]),
      ),
    );
    if (Object.keys({ ...changes, ...personal }).length === 0) return [];
    const envelope_version = state.envelope_version + ("envelope" in changes ? 1 : 0);
    return [WorkflowChanged.of({ workflow_id, ...changes, envelope_version }, personal)];
  },
  evolve(state, event) {
    switch (event.type) {
      case "WorkflowRegistered": {
        const { workflow_id: _, ...settings } = event.data;
        return { status: "registered", ...settings, envelope_version: 1 };
      }
      case "WorkflowChanged": {
        if (state.status === "absent") return state;
        const { workflow_id: _, ...changes } = event.data;
        return { ...state, ...definedFields(changes) };
      }
    }
  },
};
