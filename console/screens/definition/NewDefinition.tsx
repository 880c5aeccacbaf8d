import { useMutation, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { createDefinition, type ScriptType } from "../../api/build.ts";
import { ActionButton } from "../../parts/ActionButton.tsx";
import { ErrorNotice } from "../../parts/Notices.tsx";
import { ForBuilders } from "../../parts/ForRole.tsx";
import { useLocationKey } from "../../parts/useLocationKey.ts";
import { SourceEditor } from "./SourceEditor.tsx";
import { SOURCE_TEMPLATES } from "./sourceTemplates.ts";
import { useSource } from "./useSource.ts";

const route = getRouteApi("/definitions/new");

function Create({ type }: { type: ScriptType }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const where = useLocationKey();
  const [template] = useState(SOURCE_TEMPLATES[type]);
  const script = useSource(type, template);
  const create = useMutation({
    mutationFn: () => createDefinition({ type, source: script.source }),
    onMutate: where,
    onSuccess: async ({ id }, _nothing, began) => {
      await queries.invalidateQueries({ queryKey: ["definition"] });
      if (where() !== began) return;
      await navigate({ to: "/definitions/$definitionId", params: { definitionId: id }, ignoreBlocker: true });
    },
  });
  return (
    <>
      <SourceEditor label={`Source of the ${type}`} text={template} script={script} />
      {create.isError && <ErrorNotice error={create.error} />}
      <p className="buttons">
        <ActionButton label={`Create ${type}`} action={create} />
      </p>
    </>
  );
}

/** A new script, based on a working example. */
export function NewDefinition() {
  const { type = "workflow" } = route.useSearch();
  return (
    <ForBuilders what={`New ${type}`}>
      <section className="screen" aria-labelledby="title">
        <p>
          <Link to={type === "tool" ? "/tools" : "/workflows"}>← {type === "tool" ? "Tools" : "Workflows"}</Link>
        </p>
        <h1 id="title">New {type}</h1>
        <p className="quiet">
          TypeScript in one module. <a href="../docs/">The documentation</a> says what it may call.
        </p>
        <Create key={type} type={type} />
      </section>
    </ForBuilders>
  );
}
