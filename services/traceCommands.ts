import type { CommandResult, Command } from "#events/envelope.ts";
import { parseStreamName } from "#events/ids.ts";
import { currentTrace, inSpan, withTrace, type Attributes } from "#events/spans.ts";
import { toTraceHeaders, parseTraceHeaders } from "#events/trace.ts";

const commandAttributes = ({ stream, organization_id }: Command): Attributes => ({
  "svc.aggregate": parseStreamName(stream).aggregate,
  "svc.organization_id": organization_id,
});

const resultAttributes = ({ position, repeated, rejection }: CommandResult): Attributes => ({
  "svc.position": position,
  "svc.repeated": repeated,
  ...(rejection && { "svc.rejection": rejection.code }),
});

/**
 * Handles each command in the trace that it carries, or else in the current one, and passes that trace on to its events and to work
 * that it starts in this process.
 */
export const traceCommands =
  (handle: (command: Command) => Promise<CommandResult>) =>
  (command: Command): Promise<CommandResult> =>
    withTrace(parseTraceHeaders(command) ?? currentTrace(), () => {
      const kind = command.traceparent === undefined ? "internal" : "consumer";
      return inSpan(`handle ${command.type}`, { kind, attributes: commandAttributes(command) }, async (note) => {
        const result = await handle({ ...command, ...toTraceHeaders(currentTrace()) });
        note(resultAttributes(result));
        return result;
      });
    });
