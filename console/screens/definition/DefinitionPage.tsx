import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { deleteDefinition, getDefinition, saveDefinition, type DefinitionWithSource } from "../../api/build.ts";
import { formatCount } from "../../format/index.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { ForBuilders } from "../../parts/ForRole.tsx";
import { Tab, Tabs } from "../../parts/Tabs.tsx";
import { ThingActions } from "../../parts/ThingActions.tsx";
import { ThingScreen } from "../../parts/ThingScreen.tsx";
import { Time } from "../../parts/Time.tsx";
import { useLeaveAfter } from "../../parts/useLocationKey.ts";
import { CheckRuns } from "./CheckRuns.tsx";
import { Grants } from "./Grants.tsx";
import { SourceEditor } from "./SourceEditor.tsx";
import { TryTool } from "./TryTool.tsx";
import { useSource } from "./useSource.ts";
import { Versions } from "./Versions.tsx";
import { DefinitionWorkflows } from "./DefinitionWorkflows.tsx";

const route = getRouteApi("/definitions/$definitionId");

interface WriteProps {
  saved: DefinitionWithSource;
  /** The latest saved version, possibly saved by another person. */
  newest: number;
  onSaved(now: DefinitionWithSource): void;
}

/** The editor of a script. */
function Write({ saved, newest, onSaved }: WriteProps) {
  const { line } = route.useSearch();
  const queries = useQueryClient();
  // the editor stays after a save, because the person may have gone on writing; another text or label would replace it
  const [begun] = useState(saved);
  const script = useSource(saved.type, saved.source);
  const { source, checked, isChanged } = script;
  const save = useMutation({
    mutationFn: () => saveDefinition(saved.id, { source }),
    onSuccess: (now) => {
      queries.setQueryData(getDefinition(saved.id).queryKey, now);
      onSaved(now);
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ["definition"] }),
  });
  return (
    <>
      {newest > saved.version && (
        <p className="notice warn" role="status">
          Version {newest} was saved meanwhile. Saving makes yours the newest; reload to see the other one.
        </p>
      )}
      <SourceEditor
        label={`Source of ${begun.name}`}
        text={begun.source}
        start={line === undefined ? undefined : { line }}
        script={script}
      />
      {save.isError && <ErrorNotice error={save.error} />}
      <p className="buttons">
        <ActionButton label="Save" action={{ ...save, isPending: save.isPending || !isChanged }} />
        <span role="status" className="quiet">
          {isChanged ? "Not saved yet." : `Version ${saved.version} is saved.`}
        </span>
      </p>
      {saved.type === "workflow" && (
        <CheckRuns
          id={saved.id}
          source={source}
          isFaulty={checked.problems.some(({ severity }) => severity === "error")}
        />
      )}
    </>
  );
}

function Actions({ definition: { id, name, type } }: { definition: DefinitionWithSource }) {
  const leaveAfter = useLeaveAfter();
  const actions = [
    {
      label: "Delete",
      question: `Delete “${name}”? Models and workflows cannot call it any more.`,
      isDangerous: true,
      run: () =>
        leaveAfter(() => deleteDefinition(id), { to: type === "tool" ? "/tools" : "/workflows", ignoreBlocker: true }),
    },
  ];
  return <ThingActions actions={actions} kind="definition" />;
}

function Details({ definition }: { definition: DefinitionWithSource }) {
  const { view = "source" } = route.useSearch();
  // keeps the initial text until this person saves, even if others save meanwhile
  const [saved, setSaved] = useState(definition);
  // grants make a version with the same source, which nobody has to look at
  const adopt = (now: DefinitionWithSource) => setSaved((before) => (now.source === before.source ? now : before));
  return (
    <>
      <header className="title-line">
        <h1>{definition.name}</h1>
        <span className="quiet">
          {definition.type}, version {definition.version}, <Time at={definition.updated_at} />
        </span>
      </header>
      <p className="quiet">{definition.description || "Without a description."}</p>
      <Tabs
        label="View"
        names={["source", "versions"] as const}
        current={view}
        title={(name) => (name === "source" ? "Source" : formatCount(definition.version, "version"))}
        tab={(name, rest) => (
          <Tab
            {...rest}
            to="/definitions/$definitionId"
            params={{ definitionId: definition.id }}
            search={name === "source" ? {} : { view: name }}
          />
        )}
      />
      {view === "versions" ? (
        <Versions definition={definition} onSaved={setSaved} />
      ) : (
        <div className="beside">
          <div>
            <Write saved={saved} newest={definition.version} onSaved={setSaved} />
          </div>
          <div>
            {definition.type === "tool" ? (
              <TryTool tool={definition} />
            ) : (
              <DefinitionWorkflows definition={definition} />
            )}
            {definition.type === "tool" && <Grants tool={definition} onSaved={adopt} />}
            <Actions definition={definition} />
          </div>
        </div>
      )}
    </>
  );
}

function Read() {
  const { definitionId } = route.useParams();
  const definition = useQuery(getDefinition(definitionId));
  const isTool = definition.data?.type === "tool";
  return (
    <ThingScreen
      back={<Link to={isTool ? "/tools" : "/workflows"}>← {isTool ? "Tools" : "Workflows"}</Link>}
      query={definition}
      kind="Script"
    >
      {(data) => <Details key={data.id} definition={data} />}
    </ThingScreen>
  );
}

/** One script: its source with its errors, its versions, and a form to try it. */
export const DefinitionPage = () => (
  <ForBuilders what="Scripts">
    <Read />
  </ForBuilders>
);
