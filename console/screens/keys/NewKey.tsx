import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { createKey, getKey, PRODUCTS, type KeySettings, type KeyWithSecret } from "../../api/keys.ts";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { NextSteps } from "../../parts/NextSteps.tsx";
import { QueryResult } from "../../parts/Notices.tsx";
import { ProjectField } from "../../parts/ProjectField.tsx";
import { ForAdministrators } from "../../parts/ForRole.tsx";
import { KeyFields, readKeyFields } from "./KeyFields.tsx";
import { KeySecret } from "./KeySecret.tsx";

const route = getRouteApi("/keys/new");
const SETTINGS = { name: "", products: [...PRODUCTS], allowed_models: null, client_tools: false, expires_at: null };

const Created = ({ created, onNext }: { created: KeyWithSecret; onNext: () => void }) => (
  <>
    <KeySecret title={`The key “${created.name}” was created`} changed={created} />
    <NextSteps
      see={
        <Link to="/keys/$keyId" params={{ keyId: created.id }}>
          See the key
        </Link>
      }
      another="Create another"
      onNext={onNext}
    />
  </>
);

/** Creates a second key for the same program. Both work until the first one is deleted. */
function CreateLike({ id }: { id: string }) {
  const key = useQuery(getKey(id));
  return (
    <QueryResult query={key} what="the key">
      {(like) => (
        <>
          <ol>
            <li>
              Create a second key with the settings of{" "}
              <Link to="/keys/$keyId" params={{ keyId: id }}>
                {like.name}
              </Link>
              . Both work.
            </li>
            <li>Give the program the new secret.</li>
            <li>Delete {like.name} once its page says that it is not used any more.</li>
          </ol>
          <Create settings={like} project={like.project_id ?? undefined} />
        </>
      )}
    </QueryResult>
  );
}

interface CreateProps {
  settings: Omit<KeySettings, "enabled">;
  project: string | undefined;
}

function Create({ settings, project }: CreateProps) {
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: async (form: FormData) =>
      createKey({ ...readKeyFields(form), enabled: true, project_id: formText(form, "project_id") || null }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["key"] }),
  });
  if (create.data) return <Created created={create.data} onNext={() => create.reset()} />;
  return (
    <Form submit="Create key" send={create}>
      <KeyFields settings={settings} />
      <ProjectField name="project_id" note="optional, and for good" chosen={project}>
        <span className="quiet">A key of a project reaches the agents and workflows of this project only.</span>
      </ProjectField>
    </Form>
  );
}

/** A new API key. Its secret is shown once. */
export function NewKey() {
  const { project, like } = route.useSearch();
  return (
    <ForAdministrators what="API keys">
      <section className="screen narrow" aria-labelledby="title">
        <p>
          <Link to="/keys">← Keys</Link>
        </p>
        <h1 id="title">New key</h1>
        {like ? <CreateLike id={like} /> : <Create settings={SETTINGS} project={project} />}
      </section>
    </ForAdministrators>
  );
}
