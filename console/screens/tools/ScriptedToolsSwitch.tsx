import { useQuery } from "@tanstack/react-query";
import { getScriptedTools, switchScriptedTools } from "../../api/build.ts";
import { useRole } from "../../api/useRole.ts";
import { QueryResult } from "../../parts/Notices.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";

const QUESTION =
  "Switch off your own tools? Requests that name one are refused, agents go on without, and steps that name one fail.";

/** Shows whether the organization's own tools run. Owners and admins switch them off and on. */
export function ScriptedToolsSwitch() {
  const { isAdmin } = useRole();
  const query = useQuery(getScriptedTools);
  return (
    <QueryResult query={query} what="whether tools run">
      {({ enabled, available }) => (
        <>
          {!enabled && <p className="notice warn">Your own tools are switched off for the organization.</p>}
          {enabled && !available && <p className="notice warn">Your own tools are switched off on this server.</p>}
          {isAdmin && (
            <ThingActions
              kind="organization"
              actions={[
                enabled
                  ? {
                      label: "Switch off",
                      question: QUESTION,
                      isDangerous: true,
                      run: () => switchScriptedTools(false),
                    }
                  : { label: "Switch on", run: () => switchScriptedTools(true) },
              ]}
            />
          )}
        </>
      )}
    </QueryResult>
  );
}
