import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { createProject, deleteProject, listProjects, renameProject, type Project } from "../../api/settings.ts";
import { useRole } from "../../api/useRole.ts";
import type { Action } from "../../parts/action.ts";
import { Form } from "../../parts/Form.tsx";
import { formText } from "../../parts/formText.ts";
import { EmptyState, ErrorNotice, QueryResult } from "../../parts/Notices.tsx";
import { removalColumn } from "../../parts/RemoveButton.tsx";
import { Table, type Columns } from "../../parts/Table.tsx";
import { Time } from "../../parts/Time.tsx";
import { useSaveForm } from "../../parts/useSaveForm.ts";
import { useChange } from "../../parts/useChange.ts";

const COLUMNS: Columns<Project> = [
  { title: "Project", cell: ({ name }) => name },
  { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
];

const editable = (removal: Action<string>): Columns<Project> => [
  {
    title: "Project",
    cell: ({ id, name }) => (
      <Link to="/settings" search={{ section: "projects", edit: id }} data-row>
        {name}
      </Link>
    ),
  },
  ...COLUMNS.slice(1),
  {
    title: "Keys",
    cell: ({ id }) => (
      <Link to="/keys" search={{ project: id }}>
        Its keys
      </Link>
    ),
  },
  removalColumn<Project>(removal, ({ id, name }) => ({
    id,
    label: "Delete",
    about: name,
    question: `Delete the project “${name}”? That works only once nothing belongs to it.`,
  })),
];

function ProjectForm({ project }: { project: Project | undefined }) {
  const { send, formKey } = useSaveForm({
    kind: "project",
    edit: project?.id,
    back: { to: "/settings", search: { section: "projects" } },
    save: async (form) => {
      const name = formText(form, "name");
      return project ? renameProject(project.id, name) : createProject(name);
    },
  });
  return (
    <Form
      key={`${project?.id} ${formKey}`}
      submit={project ? "Rename project" : "Create project"}
      done={project ? undefined : "Saved."}
      send={send}
    >
      <label>
        {project ? `New name of “${project.name}”` : "Name of a new project"}
        <input name="name" required maxLength={200} defaultValue={project?.name} autoComplete="off" />
      </label>
    </Form>
  );
}

/** Agents, workflows and keys can belong to a project. A project's keys reach only agents and workflows of that project. */
export function Projects({ edit }: { edit: string | undefined }) {
  const { isAdmin } = useRole();
  const projects = useQuery(listProjects);
  const removal = useChange("project", deleteProject);
  return (
    <QueryResult query={projects} what="projects">
      {({ data }) => (
        <>
          {removal.isError && <ErrorNotice error={removal.error} />}
          {data.length === 0 ? (
            <EmptyState title="There are no projects">
              <p>A key of a project reaches the agents and workflows of this project only. Many need none.</p>
            </EmptyState>
          ) : (
            <Table
              caption="Projects"
              columns={isAdmin ? editable(removal) : COLUMNS}
              rows={data}
              rowKey={({ id }) => id}
            />
          )}
          {isAdmin && <ProjectForm project={data.find(({ id }) => id === edit)} />}
        </>
      )}
    </QueryResult>
  );
}
