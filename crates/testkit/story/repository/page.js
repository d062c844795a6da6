import { withNote } from "./notes.js";

const list = document.querySelector("#notes");
let notes = JSON.parse(localStorage.getItem("notes") ?? "[]");

function show() {
  list.replaceChildren(
    ...notes.map(({ text, day }) => {
      const item = document.createElement("li");
      item.textContent = `${day}: ${text}`;
      return item;
    }),
  );
}

document.querySelector("#new-note").addEventListener("submit", (event) => {
  event.preventDefault();
  const field = event.target.elements.text;
  notes = withNote(notes, field.value, new Date().toLocaleDateString());
  localStorage.setItem("notes", JSON.stringify(notes));
  field.value = "";
  show();
});

show();
