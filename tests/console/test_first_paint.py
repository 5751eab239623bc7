"""What a page shows before its scripts have run: the frame, as the scripts then make it."""

from playwright.sync_api import BrowserContext, Page, expect

FRAME = """
  () => [...document.querySelectorAll('header > .brand, header > nav a, main')].map((each) => {
    const { left, top } = each.getBoundingClientRect();
    const words = each.tagName === 'MAIN' ? '' : each.innerText.trim();
    return [each.tagName, each.getAttribute('href'), words, Math.round(left), Math.round(top)];
  })
"""


def test_frame_is_there_without_scripts_and_nothing_of_it_moves_later(
    context: BrowserContext, page: Page
):
    page.goto("/lanes")
    expect(page.locator("main h1")).to_be_visible()
    made = page.evaluate(FRAME)
    still = context.new_page()
    still.route("**/static/*.js", lambda route: route.abort())
    still.goto("/lanes")

    assert still.locator("main").inner_text() == ""
    assert still.evaluate(FRAME) == made
    assert len(made) > 8
    still.close()


def test_frame_is_painted_in_the_theme_of_the_system(context: BrowserContext):
    page = context.new_page()
    page.emulate_media(color_scheme="dark")
    page.route("**/static/app-*.js", lambda route: route.abort())
    page.goto("/")

    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    expect(page.get_by_role("link", name="Overview")).to_be_visible()
    page.close()
