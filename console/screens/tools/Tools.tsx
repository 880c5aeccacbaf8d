import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { listDefinitions, type Definition } from "../../api/build.ts";
import { EmptyState, QueryResult } from "../../parts/Notices.tsx";
import { ForBuilders } from "../../parts/ForRole.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { ScriptedToolsSwitch } from "./ScriptedToolsSwitch.tsx";

const COLUMNS: Columns<Definition> = [
  {
    title: "Tool",
    cell: ({ id, name, description }) => (
      <>
        <Link className="mono" to="/definitions/$definitionId" params={{ definitionId: id }} data-row>
          {name}
        </Link>
        <span className="quiet clipped">{description}</span>
      </>
    ),
  },
  { title: "Version", number: true, cell: ({ version }) => version },
  { title: "Secrets", cell: ({ grants }) => grants.join(", ") },
  { title: "Changed", cell: ({ updated_at }) => <Time at={updated_at} /> },
];

/** The organization's own tools. */
export function Tools() {
  const tools = useQuery(listDefinitions("tool"));
  return (
    <ForBuilders what="Tools">
      <section className="screen" aria-labelledby="title">
        <header className="title-line">
          <h1 id="title">Tools</h1>
          <Link className="button primary" to="/definitions/new" search={{ type: "tool" }}>
            New tool
          </Link>
        </header>
        {!tools.isLoadingError && <ScriptedToolsSwitch />}
        <QueryResult query={tools} what="tools">
          {({ data }) =>
            data.length === 0 ? (
              <EmptyState title="There are no tools of your own">
                <ol>
                  <li>
                    <Link to="/definitions/new" search={{ type: "tool" }}>
                      Write one
                    </Link>{" "}
                    in TypeScript; a new one begins with one that works.
                  </li>
                  <li>Try it beside the editor.</li>
                  <li>
                    Give it to an <Link to="/agents">agent</Link>. Search, documents and web pages are built in.
                  </li>
                </ol>
              </EmptyState>
            ) : (
              <Table caption="Tools" columns={COLUMNS} rows={data} rowKey={({ id }) => id} />
            )
          }
        </QueryResult>
      </section>
    </ForBuilders>
  );
}
