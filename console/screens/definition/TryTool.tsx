import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { tryTool, type Definition } from "../../api/build.ts";
import { getTrace } from "../../api/requests.ts";
import { formatDuration, parseJson } from "../../format/index.ts";
import { ArgsForm, readArgs } from "../../parts/ArgsForm.tsx";
import { QueryResult } from "../../parts/Notices.tsx";
import { Status } from "../../parts/Status.tsx";
import { ValueBlock } from "../../parts/ValueBlock.tsx";

function Result({ turn }: { turn: string }) {
  const trace = useQuery(getTrace(turn));
  return (
    <QueryResult query={trace} what="the result">
      {({ rounds, answer }) => {
        const called = rounds[0]?.calls[0];
        if (!called) return <p className="notice bad">{answer?.error ?? "The tool was not called."}</p>;
        return (
          <div className="stack">
            <p>
              <Status status={called.status} />{" "}
              <span className="quiet">
                version {called.tool_version}
                {called.duration_ms !== null && `, ${formatDuration(called.duration_ms)}`}
              </span>{" "}
              <Link to="/requests/$turnId" params={{ turnId: turn }}>
                Why?
              </Link>
            </p>
            <ValueBlock
              label="Output, as a model receives it"
              value={called.output === null ? "none yet" : parseJson(called.output)}
            />
          </div>
        );
      }}
    </QueryResult>
  );
}

/** Calls the saved version of a tool with entered arguments. */
export function TryTool({ tool }: { tool: Definition }) {
  const send = useMutation({
    mutationFn: async (form: FormData) => tryTool(tool.name, readArgs(form, tool.parameters)),
  });
  return (
    <section className="stack" aria-labelledby="try">
      <h2 id="try">Try it</h2>
      <p className="quiet">Calls the saved version {tool.version}, as a model would.</p>
      <ArgsForm key={tool.version} schema={tool.parameters} submit="Call the tool" send={send} />
      {send.data !== undefined && <Result key={send.data} turn={send.data} />}
    </section>
  );
}
