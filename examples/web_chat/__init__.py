"""A web chat on citestream: answers stream in, and every number leads to the lines it stands for.

===============  =================================================================================
``app``          ``create_app``: the routes, and what the application is made of
``chats``        the sessions that are open, and what is asked of them
``stream``       one session as server-sent events, from any place on
``documents``    what may be cited: its lines, and where in them a citation is
``owners``       whose sessions they are: a random cookie
``protection``   what a browser is told on every response, and which requests are refused
``providers``    the offline provider, or a vendor's own client
``server``       a server that ends its streams when it stops
``__main__``     the command
``static``       the page: HTML, one style sheet, JavaScript modules; no build step
===============  =================================================================================
"""
