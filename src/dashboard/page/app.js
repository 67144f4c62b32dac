// What the server sends, as it comes.
const shown = document.getElementById("state");
const events = new EventSource("/api/events");
const show = (event) => { shown.textContent = JSON.stringify(JSON.parse(event.data), null, 2); };
events.addEventListener("state", show);
events.addEventListener("change", show);
events.addEventListener("reload", () => location.reload());
